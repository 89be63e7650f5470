"""Speech engines that a pipeline can name: their settings and their loading."""
