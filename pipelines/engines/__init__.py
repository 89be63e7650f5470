"""Speech engines that a pipeline can name: settings, and how each is loaded."""
