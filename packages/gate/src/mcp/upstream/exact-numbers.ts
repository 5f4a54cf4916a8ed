import { randomUUID } from 'node:crypto';
import type { ReadBuffer, Transport } from '@modelcontextprotocol/client';
import { McpError } from '../errors.ts';

/** Begins the text that stands for a number until its message is read. No server can guess it. */
const MARK = `${randomUUID()}:`;
/** Every changed number has many digits, or a large exponent. */
const LONG = /\d{16}|[eE]\+?\d{3}/;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** A JSON text in which a text stands for each integer that a double would change. */
export function withMarks(json: string): string {
  if (!LONG.test(json)) return json;
  const pieces: string[] = [];
  let from = 0;
  for (let at = 0; at < json.length; ) {
    NUMBER.lastIndex = at;
    const [number] = NUMBER.exec(json) ?? [];
    if (number !== undefined && !isKept(Number(number))) {
      pieces.push(json.slice(from, at), `"${MARK}${number}"`);
      from = at + number.length;
    }
    at = json[at] === '"' ? endOfText(json, at) : at + (number?.length ?? 1);
  }
  return [...pieces, json.slice(from)].join('');
}

function endOfText(json: string, start: number): number {
  for (let at = json.indexOf('"', start + 1); at >= 0; at = json.indexOf('"', at + 1)) {
    let escapes = 0;
    while (json[at - 1 - escapes] === '\\') escapes++;
    if (escapes % 2 === 0) return at + 1;
  }
  return json.length;
}

function isKept(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
}

/**
 * Puts the numbers of `withMarks` back, as values that `JSON.stringify` writes digit by digit. It
 * does not recur, because the value can be nested to any depth.
 */
export function withNumbers(value: unknown): unknown {
  const whole = { value };
  const left: object[] = [whole];
  for (let each = left.pop(); each !== undefined; each = left.pop()) {
    const members = each as Record<string, unknown>;
    for (const name of Object.keys(members)) {
      const member = members[name];
      if (typeof member === 'object' && member !== null) left.push(member);
      else if (typeof member === 'string' && member.startsWith(MARK))
        members[name] = rawJson(member.slice(MARK.length));
    }
  }
  return whole.value;
}

const rawJson: (text: string) => unknown = (
  JSON as unknown as { rawJSON: (text: string) => unknown }
).rawJSON;

/** Bytes of pipes or of a stream of events, in which each whole line is marked if it is JSON. */
export class MarkedLines {
  readonly #begins: string;
  readonly #pieces: Buffer[] = [];

  /** `begins`: the text before the JSON of a line, such as `data:`. Other lines stay. */
  constructor(begins: string = '') {
    this.#begins = begins;
  }

  /** The lines that are whole now. */
  take(chunk: Uint8Array): Buffer {
    const end = Math.max(chunk.lastIndexOf(10), chunk.lastIndexOf(13)) + 1;
    if (end === 0) {
      this.#pieces.push(Buffer.from(chunk));
      return Buffer.alloc(0);
    }
    const whole = Buffer.concat([...this.#pieces.splice(0), chunk.subarray(0, end)]);
    if (end < chunk.byteLength) this.#pieces.push(Buffer.from(chunk.subarray(end)));
    return this.#marked(whole);
  }

  /** The bytes after the last line. */
  rest(): Buffer {
    return this.#marked(Buffer.concat(this.#pieces.splice(0)));
  }

  #marked(bytes: Buffer): Buffer {
    const lines = bytes.toString('utf8').split(/(?<=[\r\n])/);
    return Buffer.from(
      lines.map((line) => (line.startsWith(this.#begins) ? withMarks(line) : line)).join(''),
    );
  }
}

/** Lets a transport over pipes read numbers exactly. The SDK has no other place for it. */
export function readingExactly<T extends Transport>(transport: T): T {
  const { _readBuffer: buffer } = transport as unknown as { readonly _readBuffer?: ReadBuffer };
  if (buffer === undefined)
    throw new McpError(
      'missing_package',
      'This version of the MCP SDK is not supported: it reads pipes in another way.',
    );
  const lines = new MarkedLines();
  const append = buffer.append.bind(buffer);
  let waiting = 0;
  buffer.append = (chunk) => {
    const whole = lines.take(chunk);
    waiting = whole.byteLength > 0 ? 0 : waiting + chunk.byteLength;
    // The limit of the SDK holds for a line without an end, too.
    append(
      whole.byteLength > 0 || waiting <= LINE_BYTES_MAX ? whole : Buffer.alloc(LINE_BYTES_MAX + 1),
    );
  };
  return transport;
}

const LINE_BYTES_MAX = 10 * 1024 * 1024;
