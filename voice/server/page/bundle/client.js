export { LogLevel, PipecatClient } from "@pipecat-ai/client-js";
export { ProtobufFrameSerializer, WebSocketTransport } from "@pipecat-ai/websocket-transport";
