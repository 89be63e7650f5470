"""The pipelines that come with the package, one readable file each."""
