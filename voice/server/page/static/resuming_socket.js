// A call's WebSocket, which is made again when it breaks: every message arrives once, and in order. It has what
// pipecat's transport uses of its own.
import { Outbox, nextWait, resumeOf, resumptionUrl } from "./resumption.js";

const CONNECT_WITHIN = 3; // Seconds that one attempt to connect again may take.
const LOST = 1006; // Of connections that broke. Whoever hangs up says so with another code.

export class ResumingSocket {
  #url;
  #events;
  #socket = null;
  #resume = null; // How the call is taken up again; null until the server has said it.
  #outbox = new Outbox();
  #received = 0;
  #order = Promise.resolve(); // Messages are decoded one after the other.
  #heard = 0;
  #away = null; // When the connection was lost, seconds; null while there is one.
  #wait = 0;
  #timer = null;
  #over = false;

  // Args: the call's address, and an object of functions: `decode` (a message to a frame, by a promise), `receive`
  // (a frame), `lost`, `resumed` (with seconds), `closed` (with a code and a reason).
  constructor(url, events) {
    this.#url = url;
    this.#events = events;
  }

  get readyState() {
    if (this.#over) return WebSocket.CLOSED;
    return this.#away === null ? (this.#socket?.readyState ?? WebSocket.CONNECTING) : WebSocket.OPEN;
  }

  connect() {
    return new Promise((done, failed) => {
      const socket = this.#dial(this.#url);
      socket.addEventListener("open", () => done());
      socket.addEventListener("close", () => failed(new Error("the server does not take the call")));
    });
  }

  // While the connection is made again, a message waits to be sent.
  send(data) {
    this.#outbox.add(data);
    if (this.#away === null && this.#socket.readyState === WebSocket.OPEN) this.#socket.send(data);
  }

  close() {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#socket?.close(1000, "the caller hung up");
  }

  // Gives the connection up if nothing has come for so many seconds, and makes it again.
  check(patience) {
    if (this.#away === null && this.#resume && now() - this.#heard > patience) this.#giveUp();
  }

  #dial(url) {
    const socket = new WebSocket(url);
    this.#socket = socket;
    this.#heard = now();
    let greeted = false;
    socket.onmessage = ({ data }) => {
      this.#heard = now();
      const begins = !greeted;
      greeted = true;
      this.#order = this.#order.then(() => this.#take(data, begins));
    };
    socket.onclose = ({ code, reason }) => {
      this.#order = this.#order.then(() => this.#broke(socket, code, reason));
    };
    return socket;
  }

  async #take(data, begins) {
    let frame = null;
    try {
      frame = await this.#events.decode(data);
    } catch (error) {
      console.error("A message of the server cannot be read", error);
    }
    const resume = begins ? resumeOf(frame) : null;
    if (resume) {
      this.#resume = resume;
      if (this.#away !== null) this.#goOn(resume);
      return;
    }
    this.#received++;
    if (frame) this.#events.receive(frame);
  }

  #goOn({ received }) {
    clearTimeout(this.#timer);
    const missed = this.#outbox.after(received);
    if (missed === null) {
      this.close();
      this.#events.closed(LOST, "");
      return;
    }
    for (const message of missed) this.#socket.send(message);
    const seconds = now() - this.#away;
    this.#away = null;
    this.#events.resumed(seconds);
  }

  #broke(socket, code, reason) {
    if (socket !== this.#socket || this.#over) return;
    clearTimeout(this.#timer);
    if (code === LOST && this.#resume) {
      if (this.#away === null) {
        this.#away = now();
        this.#wait = 0;
        this.#events.lost();
      } else this.#wait = nextWait(this.#wait);
      if (now() + this.#wait < this.#away + this.#resume.within) {
        this.#timer = setTimeout(() => this.#again(), this.#wait * 1000);
        return;
      }
    }
    this.#over = true;
    this.#events.closed(code, reason);
  }

  #again() {
    this.#dial(resumptionUrl(this.#url, this.#resume.token, this.#received));
    this.#timer = setTimeout(() => this.#giveUp(), CONNECT_WITHIN * 1000);
  }

  // Closing a connection over which nothing comes any more would take a minute.
  #giveUp() {
    const socket = this.#socket;
    socket.onmessage = socket.onclose = null;
    socket.close();
    this.#order = this.#order.then(() => this.#broke(socket, LOST, ""));
  }
}

const now = () => performance.now() / 1000;
