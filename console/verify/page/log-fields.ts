import type { GivenTexts } from '../checkpoint/check-log.ts';
import { readCheckpoint } from '../log/note.ts';
import { element, section } from './element.ts';
import { givenKeys, keyProblem } from './key-part.ts';

/** The fields for the keys and texts about a log that the reader has. */
export class LogFields {
  readonly #log = element('input', {
    id: 'log-key',
    type: 'text',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  readonly #witnesses = area('witness-keys');
  readonly #checkpoint = area('checkpoint', '5');
  readonly #earlier = area('earlier', '5');
  readonly #proof = area('proof', '5');
  readonly #problem = element('p', {
    class: 'standing',
    role: 'status',
    'data-compared': 'problem',
  });
  readonly part: HTMLElement;

  constructor(onChange: () => void) {
    for (const field of [this.#log, this.#witnesses, this.#checkpoint, this.#earlier, this.#proof])
      field.addEventListener('input', onChange);
    this.part = section(
      'Your side',
      label('log-key', 'Key of the log, that you have from the operator'),
      this.#log,
      this.#problem,
      label('checkpoint', 'Signed checkpoint: paste it, or drop its file above'),
      this.#checkpoint,
      element(
        'details',
        {},
        element('summary', {}, 'Witnesses, and an earlier checkpoint'),
        label('witness-keys', 'Keys that must have cosigned, one a line'),
        this.#witnesses,
        label('earlier', 'Earlier checkpoint of the same log'),
        this.#earlier,
        label('proof', 'Proof of consistency between the two: one hash a line, in Base64'),
        this.#proof,
      ),
    );
  }

  get keys() {
    const given = givenKeys(this.#log.value, this.#witnesses.value);
    const problem = keyProblem(given, this.#log.value, this.#witnesses.value);
    this.#problem.textContent = problem === undefined ? '' : `! ${problem}`;
    return given;
  }

  get texts(): GivenTexts {
    return {
      checkpoint: this.#checkpoint.value,
      earlier: this.#earlier.value,
      proof: this.#proof.value,
    };
  }

  /** A checkpoint from a file. Of two, the one with fewer entries is the earlier one. */
  addCheckpoint(text: string): void {
    const before = this.#checkpoint.value;
    this.#checkpoint.value = text;
    if (before.trim() === '' || before === text) return;
    const isEarlier = sizeOf(text) < sizeOf(before);
    this.#earlier.value = isEarlier ? text : before;
    if (isEarlier) this.#checkpoint.value = before;
  }

  /** Copies the texts of other fields. */
  takeFrom(other: LogFields): void {
    this.#log.value = other.#log.value;
    this.#witnesses.value = other.#witnesses.value;
    this.#checkpoint.value = other.#checkpoint.value;
    this.#earlier.value = other.#earlier.value;
    this.#proof.value = other.#proof.value;
  }

  addProof(text: string): void {
    this.#proof.value = text;
  }
}

function sizeOf(text: string): bigint {
  const checkpoint = readCheckpoint(text);
  return typeof checkpoint === 'string' ? 0n : checkpoint.size;
}

function area(id: string, rows = '2'): HTMLTextAreaElement {
  return element('textarea', { id, rows, spellcheck: 'false' });
}

function label(id: string, text: string): HTMLElement {
  return element('label', { for: id }, text);
}
