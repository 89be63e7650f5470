"""`scripted:whisper`: genuine CTranslate2 Whisper models with made-up weights, for tests and benchmarks.

Every pass runs faster-whisper's whole path at the true cost of the shape: features, encoder, decoder. What the model
"hears" is scripted in one of two ways:

* A model with a fixed text (`model_folder.build`) emits that text for any audio.
* A model with a script (`model.build_for_fixtures`) knows the recordings of fixtures and their labels.
  `model.ScriptedWhisperModel` compares exact samples to find which recording a piece of audio comes from, and so which
  words have been spoken in it so far; unknown audio contains none. In a recording without a text it hears "please tell
  me more about that". It generates about as many tokens as Whisper would for those words, and replaces them with the
  words. It mishears a word at the very end of the audio at a given rate, and more often if the audio cuts the word off;
  more audio corrects the word. Errors are scripted too, so the word error rate of such a model means nothing.

    folder = build_for_fixtures(Path("model"), ["samples/commands"], size="tiny", misheard=0.2, seed=1)
    ScriptedWhisperModel(str(folder), device="cpu", compute_type="int8")  # in place of faster_whisper.WhisperModel
    SharedWhisper.load(folder, model_class=ScriptedWhisperModel)          # this project's recogniser

    voice replay --pipeline local --set asr.engine=scripted --set asr.model=FOLDER   # with a script
    voice replay --pipeline local --set asr.model=FOLDER                             # with a fixed text

pipecat's own service uses such a model if the module attribute `pipecat.services.whisper.stt.WhisperModel` is
`ScriptedWhisperModel` and its `settings.model` is the folder. To write a folder from the command line:

    python -m pipelines.lab.scripted OUT --size base --fixtures samples/commands samples/units

Audio must arrive bit-exact: 16 kHz, 16 bits, neither resampled nor mixed with anything; silence around it is fine.
The model's name begins with "scripted:", and reports must use that name.
"""
