import { canonicalOf, LINE, NotCanonical, PAYLOAD, readCanonical } from '../bytes/canonical.ts';
import { hashOf } from '../bytes/hash.ts';
import { utf8 } from '../bytes/text.ts';
import { isCount, isHash, isObject, type Members } from '../entries/basic-forms.ts';
import { wrongPayload } from '../entries/payload-form.ts';
import type { Entry, Payload } from '../entries/payloads.ts';
import { type Findings, Unreadable } from './findings.ts';
import { heldFactsOf } from './held-facts.ts';
import { hasJust } from './json-file.ts';
import { type Erased, LedgerPart } from './ledger-part.ts';
import { ValuesBefore } from './values-before.ts';

/**
 * The entries, blobs and erasures of `entries.jsonl` (format's reference, section 3, checks 1 to
 * 3). @throws Unreadable for a line that is of no form
 */
export function readLines(text: string, findings: Findings): LedgerPart {
  const reading = new Reading(findings);
  const lines = text.split('\n');
  if (lines.pop() !== '')
    throw new Unreadable('bad_form', 'The last line of entries.jsonl has no newline.');
  for (const [n, line] of lines.entries()) reading.read(line, n + 1);
  return reading.end();
}

class Reading {
  readonly #findings: Findings;
  readonly #entries: Entry[] = [];
  readonly #blobs = new Map<string, unknown>();
  readonly #erased: Erased[] = [];
  readonly #values: ValuesBefore;

  constructor(findings: Findings) {
    this.#findings = findings;
    this.#values = new ValuesBefore(findings);
  }

  read(line: string, number: number): void {
    const value = objectIn(line, (predicate) => badLine(number, predicate));
    if (hasJust(value, ['id', 'index', 'payload'])) this.#entry(line, value, number);
    else if (hasJust(value, ['blob', 'hash'])) this.#blob(value, number);
    else if (hasJust(value, ['by', 'erased'])) this.#erasure(value, number);
    else throw badLine(number, 'is not a line of the format');
  }

  end(): LedgerPart {
    if (this.#values.hasWaiting())
      this.#findings.fault('bad_form', 'The last line of entries.jsonl is not an entry.');
    if (this.#entries.length === 0) throw new Unreadable('bad_form', 'entries.jsonl has no entry.');
    return new LedgerPart(this.#entries, this.#blobs, this.#erased);
  }

  #entry(line: string, { id, index, payload }: Members, number: number): void {
    if (!isHash(id) || !isCount(index))
      throw badLine(number, 'has an id or an index of another form');
    const text = line.slice(`{"id":"${id}","index":${index},"payload":`.length, -1);
    const wrong = wrongText(text) || wrongPayload(payload);
    if (wrong !== '') {
      this.#findings.fault('bad_entry', `The payload of line ${number} ${wrong}.`, id);
      this.#values.forget();
      return;
    }
    const isTampered = hashOf(text) !== id;
    this.#findings.checked(
      'entries',
      'bad_entry',
      isTampered ? 'Its text does not hash to its id.' : '',
      id,
    );
    const entry: Entry = { id, index, text, payload: payload as Payload };
    this.#values.take(entry);
    this.#entries.push(entry);
  }

  #blob({ blob, hash }: Members, number: number): void {
    if (!isHash(hash)) throw badLine(number, 'has no hash');
    const text = canonicalOf(blob);
    if (hashOf(text) !== hash)
      this.#findings.fault('bad_entry', `The value of line ${number} does not hash to its name.`);
    this.#blobs.set(hash, blob);
    this.#values.wait({ hash, held: heldFactsOf(blob), bytes: utf8(text).length });
  }

  #erasure({ by, erased }: Members, number: number): void {
    if (!isHash(by) || !isHash(erased)) throw badLine(number, 'has no two hashes');
    this.#erased.push({ hash: erased, by });
    this.#values.wait({ hash: erased, by });
  }
}

/** The object of a canonical line. @throws `bad`, with the reason as a predicate */
export function objectIn(line: string, bad: (predicate: string) => Unreadable): Members {
  try {
    const value = readCanonical(line, LINE);
    if (isObject(value)) return value;
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    throw bad(error.message);
  }
  throw bad('is not an object');
}

/** The limits of a payload. They are lower than those of a line: '' or the reason. */
export function wrongText(text: string): string {
  try {
    // A text has at least one byte for each of its values.
    if (text.length * 3 > PAYLOAD.values) readCanonical(text, PAYLOAD);
    return '';
  } catch (error) {
    if (error instanceof NotCanonical) return error.message;
    throw error;
  }
}

function badLine(number: number, predicate: string): Unreadable {
  return new Unreadable('bad_form', `Line ${number} of entries.jsonl ${predicate}.`);
}
