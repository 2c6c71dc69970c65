//! As much of HTTP/1.1 as a coding agent's CLI speaks: requests with a length or in chunks, kept-alive connections, and
//! answers whole or as a stream of events.
//!
//! It never answers on its own: what a request means is the caller's affair.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result, Write};
use std::net::{Shutdown, TcpStream};

/// One request as it came.
pub struct Incoming {
    pub method: String,
    /// The target without its query.
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Incoming {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// The body of an answer.
pub enum Body {
    Whole(Vec<u8>),
    /// Events of a `text/event-stream`, each complete with its empty line.
    Events(Vec<String>),
}

/// An answer.
pub struct Reply {
    pub status: u16,
    pub content_type: &'static str,
    pub body: Body,
}

impl Reply {
    pub fn json(status: u16, value: &serde_json::Value) -> Reply {
        Reply { status, content_type: "application/json", body: Body::Whole(value.to_string().into_bytes()) }
    }

    pub fn events(events: Vec<String>) -> Reply {
        Reply { status: 200, content_type: "text/event-stream", body: Body::Events(events) }
    }
}

/// The server's end of a connection.
pub struct Connection {
    reader: BufReader<TcpStream>,
    writer: TcpStream,
}

impl Connection {
    pub fn new(stream: TcpStream) -> Result<Connection> {
        stream.set_nodelay(true)?;
        Ok(Connection { writer: stream.try_clone()?, reader: BufReader::new(stream) })
    }

    /// The next request; `None` when the client has closed.
    pub fn read(&mut self) -> Result<Option<Incoming>> {
        let first = self.line()?;
        if first.is_empty() {
            return Ok(None);
        }
        let mut words = first.split(' ');
        let (Some(method), Some(target)) = (words.next(), words.next()) else {
            return Err(Error::new(ErrorKind::InvalidData, first));
        };
        let path = target.split('?').next().unwrap_or(target).to_owned();
        let mut incoming = Incoming { method: method.to_owned(), path, headers: Vec::new(), body: Vec::new() };
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(':') else { break };
            incoming.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        if incoming.header("expect").is_some_and(|what| what.eq_ignore_ascii_case("100-continue")) {
            self.writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        let chunked = incoming.header("transfer-encoding").is_some_and(|what| what.eq_ignore_ascii_case("chunked"));
        incoming.body = if chunked {
            self.chunks()?
        } else {
            let length = incoming.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
            self.exactly(length)?
        };
        Ok(Some(incoming))
    }

    /// A line without its end; empty at the end of the stream too.
    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.reader.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }

    fn exactly(&mut self, length: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let got = self.reader.by_ref().take(length).read_to_end(&mut bytes)? as u64;
        if got == length { Ok(bytes) } else { Err(ErrorKind::UnexpectedEof.into()) }
    }

    fn chunks(&mut self) -> Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.line()?;
            let digits = line.split(';').next().unwrap_or("").trim();
            let length = u64::from_str_radix(digits, 16).map_err(|error| Error::new(ErrorKind::InvalidData, error))?;
            if length == 0 {
                // Trailers, then the empty line.
                while !self.line()?.is_empty() {}
                return Ok(body);
            }
            body.extend(self.exactly(length)?);
            self.line()?;
        }
    }

    /// Sends an answer. To HEAD goes no body, but the length that it would have.
    pub fn write(&mut self, reply: &Reply, head_only: bool) -> Result<()> {
        let start =
            format!("HTTP/1.1 {} {}\r\ncontent-type: {}\r\n", reply.status, reason(reply.status), reply.content_type);
        match &reply.body {
            Body::Whole(bytes) => {
                write!(self.writer, "{start}content-length: {}\r\n\r\n", bytes.len())?;
                if !head_only {
                    self.writer.write_all(bytes)?;
                }
            }
            Body::Events(events) => {
                write!(self.writer, "{start}cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n")?;
                // A chunk an event, as from a model that is thinking.
                for event in events {
                    write!(self.writer, "{:x}\r\n{event}\r\n", event.len())?;
                }
                self.writer.write_all(b"0\r\n\r\n")?;
            }
        }
        self.writer.flush()
    }

    /// Ends the connection, whoever else has a copy of it.
    pub fn close(&self) {
        let _ = self.writer.shutdown(Shutdown::Both);
    }

    /// Waits until the client goes away.
    pub fn wait_for_end(&mut self) {
        let _ = std::io::copy(&mut self.reader, &mut std::io::sink());
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        415 => "Unsupported Media Type",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        529 => "Overloaded",
        _ => "Status",
    }
}
