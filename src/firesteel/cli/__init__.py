"""The command line: `firesteel` and its subcommands, a module each. A surface: nothing imports it."""
