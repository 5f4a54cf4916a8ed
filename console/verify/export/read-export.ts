import { usedWrit, wrongWrits } from '../bundle/check-writs.ts';
import { namedBy } from '../bundle/context.ts';
import { type Findings, Unreadable } from '../bundle/findings.ts';
import { heldFactsOf } from '../bundle/held-facts.ts';
import { hasJust } from '../bundle/json-file.ts';
import { objectIn, wrongText } from '../bundle/lines.ts';
import { ValuesBefore } from '../bundle/values-before.ts';
import { canonicalOf } from '../bytes/canonical.ts';
import { hashOf } from '../bytes/hash.ts';
import { hexOf, utf8 } from '../bytes/text.ts';
import { isCount, isHash, type Members } from '../entries/basic-forms.ts';
import { wrongPayload } from '../entries/payload-form.ts';
import type { Entry, Payload } from '../entries/payloads.ts';
import { Leaves } from '../log/leaves.ts';
import { leafHash } from '../log/tree.ts';
import { BEGINNING, type ChainState } from '../rules/chain-state.ts';
import { ChainRules } from '../rules/check-chains.ts';
import { EarlierEntries, slim } from './earlier-entries.ts';
import { Erasures } from './erasures.ts';
import { KnownWrits } from './known-writs.ts';

const HEADER = '{"format":"assize/export/v1"}';

/**
 * Checks the lines of an export, one after the other (ledger reference, section 10): forms, hashes,
 * chains, signatures, decisions, writs, and the root of the tree.
 */
export class ExportReading {
  readonly #findings: Findings;
  readonly #values: ValuesBefore;
  readonly #earlier = new EarlierEntries();
  readonly #rules: ChainRules;
  readonly #writs = new KnownWrits();
  readonly #erasures: Erasures;
  readonly #states = new Map<string, ChainState>();
  readonly #checkedWrits = new Map<string, string>();
  readonly #issuers = new Set<string>();
  /** The blobs before the next entry. */
  #blobs = new Map<string, unknown>();
  #line = 0;
  #hasEnded = false;

  /** The entries as leaves of the tree. */
  readonly leaves = new Leaves();

  constructor(findings: Findings) {
    this.#findings = findings;
    this.#values = new ValuesBefore(findings);
    this.#erasures = new Erasures(findings);
    this.#rules = new ChainRules(this.#earlier.payloadOf, findings);
  }

  get trajectories(): number {
    return this.#states.size;
  }

  /** @throws Unreadable for a line after which the rest cannot be read */
  read(line: string): void {
    this.#line += 1;
    if (this.#hasEnded) throw this.#bad('stands after the end');
    if (this.#line === 1 || line === HEADER) {
      if (this.#line > 1) throw this.#bad('is a second header');
      if (line !== HEADER) throw this.#bad(`is not ${HEADER}`);
      return;
    }
    const value = objectIn(line, (predicate) => this.#bad(predicate));
    if (hasJust(value, ['id', 'payload'])) this.#entry(line, value);
    else if (hasJust(value, ['blob', 'hash'])) this.#blob(value);
    else if (hasJust(value, ['by', 'erased'])) this.#erasure(value);
    else if (hasJust(value, ['entries', 'root'])) this.#trailer(value);
    else throw this.#bad('is not a line of the format');
  }

  /** Call this after the last line. @throws Unreadable for an export without an end */
  end(): void {
    if (!this.#hasEnded)
      throw new Unreadable('bad_export', 'The export has no last line, so its end is missing.');
    this.#erasures.end();
    for (const _writ of this.#checkedWrits) this.#findings.checked('writs', 'bad_writ', '');
  }

  #entry(line: string, { id, payload }: Members): void {
    if (!isHash(id)) throw this.#bad('has an id of another form');
    const text = line.slice(`{"id":"${id}","payload":`.length, -1);
    // Also a payload of another form has its place in the tree.
    this.leaves.append(leafHash(utf8(text)));
    const wrong = wrongText(text) || wrongPayload(payload);
    if (wrong !== '') {
      this.#findings.fault('bad_entry', `The payload of line ${this.#line} ${wrong}.`, id);
      this.#values.forget();
    } else this.#payload({ id, index: this.leaves.size - 1, text, payload: payload as Payload });
    this.#blobs = new Map();
  }

  #payload(entry: Entry): void {
    const { id, text, payload } = entry;
    const before = this.#findings.faults.length;
    this.#findings.checked(
      'entries',
      'bad_entry',
      hashOf(text) === id ? '' : 'Its text does not hash to its id.',
      id,
    );
    this.#values.take(entry);
    this.#erasures.take(entry, this.#blobs);
    this.#writs.addFirst(payload);
    const state = this.#states.get(payload.trajectory_id) ?? BEGINNING;
    this.#checkPlace(entry, state);
    this.#states.set(payload.trajectory_id, slim(this.#rules.take(entry, state)));
    this.#checkWrit(entry);
    this.#earlier.add(entry);
    if (this.#findings.faults.length > before)
      this.#findings.placeFrom(before, id, `${payload.trajectory_id}@${payload.seq}`);
  }

  /** In an export no entry of a trajectory is missing, and none that another one names. */
  #checkPlace({ id, payload }: Entry, { last }: ChainState): void {
    const missing = (reason: string) => this.#findings.fault('context_missing', reason, id);
    const before = last === undefined ? -1 : last.payload.seq;
    if (payload.seq > before + 1)
      missing(
        last === undefined
          ? 'The first entry of its trajectory is missing.'
          : 'The entry before it is missing.',
      );
    for (const { id: named, as } of namedBy({ payload }))
      if (this.#earlier.payloadOf(named) === undefined)
        missing(`The ${as} does not stand before it: ${named}.`);
  }

  #checkWrit(entry: Entry): void {
    const writ = usedWrit(entry);
    if (writ === undefined) return;
    const writOf = (id: string) => this.#writs.of(id, entry.payload.trajectory_id);
    const wrong = wrongWrits(writ, writOf, this.#checkedWrits, this.#issuers);
    if (wrong !== '') this.#findings.fault('bad_writ', wrong, entry.id);
  }

  #blob({ blob, hash }: Members): void {
    if (!isHash(hash)) throw this.#bad('has no hash');
    const text = canonicalOf(blob);
    if (hashOf(text) !== hash)
      this.#findings.fault(
        'bad_entry',
        `The value of line ${this.#line} does not hash to its name.`,
      );
    this.#blobs.set(hash, blob);
    this.#writs.addBlob(hash, blob);
    this.#values.wait({ hash, held: heldFactsOf(blob), bytes: utf8(text).length });
  }

  #erasure({ by, erased }: Members): void {
    if (!isHash(by) || !isHash(erased)) throw this.#bad('has no two hashes');
    this.#erasures.expect(erased, by);
    this.#values.wait({ hash: erased, by });
  }

  #trailer({ entries, root }: Members): void {
    if (!isCount(entries) || !isHash(root)) throw this.#bad('has no count and root');
    this.#hasEnded = true;
    if (this.#values.hasWaiting())
      this.#findings.fault('bad_export', 'A value at the end of the export belongs to no entry.');
    const { size } = this.leaves;
    if (entries !== size)
      this.#findings.fault(
        'bad_export',
        `The last line counts ${entries} entries, and there are ${size}.`,
      );
    if (root !== hexOf(this.leaves.root()))
      this.#findings.fault('bad_export', 'The entries do not have the root of the last line.');
  }

  #bad(predicate: string): Unreadable {
    return new Unreadable('bad_export', `Line ${this.#line} of the export ${predicate}.`);
  }
}
