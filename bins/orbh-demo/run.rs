pub fn run(_a: &crate::args::Args, _e: &shared::verbs::environment::Environment) -> anyhow::Result<u8> {
    Ok(0)
}
