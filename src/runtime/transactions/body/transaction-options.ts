import type { Claim } from '#effects';
import { badIntent, type ProposalInput, TRANSACTION_KEY } from '../../records/intent.ts';
import { claimsFrom } from './claims.ts';

/** The limits and permissions of a tool transaction, as the caller requests them. */
export interface TransactionOptions extends Pick<ProposalInput, 'writ' | 'principal'> {
  /**
   * The caller's name of the transaction, 1 to 512 characters. The same name denotes the same
   * transaction, also after a crash, and gets the same ruling. Without a name, a crash leaves
   * nothing to repeat, and less is written. The name stays in the effect log permanently and cannot
   * be erased: use an order number, not a person's name.
   */
  readonly name?: string;
  /**
   * Resources that the transaction may read and write, as scopes. A call to any other resource is
   * refused.
   */
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  /**
   * Milliseconds from start to gate, including waits, after which the transaction is aborted.
   * Default 300,000.
   */
  readonly deadlineMs?: number;
  /**
   * Milliseconds without activity after which a body counts as hung and is aborted. Activity is a
   * call to the transaction or the end of a call. Waits for older transactions and executing tools
   * do not count as idle. Default: half of the runtime's `blockTimeoutMs`, one minute.
   */
  readonly idleTimeoutMs?: number;
  /**
   * `early`: the epoch is assigned and claims are registered before the body runs. `late`: at the
   * gate, after the body. Use `late` for buffered calls and optimistic reads; other transactions
   * wait for it only from the gate on. Default `early`.
   */
  readonly epoch?: 'early' | 'late';
  /**
   * `ordered`: reads wait for older writers and return the values at commit. `optimistic`: reads do
   * not wait and are validated at the gate. If a value has changed, the transaction restarts.
   * Default `ordered`, and `optimistic` if the epoch is late.
   */
  readonly reading?: 'ordered' | 'optimistic';
  /**
   * Maximum number of restarts with a new epoch, after a stale attempt or a call that did nothing.
   * In the second case, the restart waits for the time that the tool requests; a longer wait than
   * `deadlineMs` fails instead. Default 3.
   */
  readonly retries?: number;
  readonly signal?: AbortSignal;
}

/** A misspelled option would be ignored, and with it a time limit. */
const OPTIONS: ReadonlySet<keyof TransactionOptions> = new Set([
  'deadlineMs',
  'epoch',
  'idleTimeoutMs',
  'name',
  'principal',
  'reading',
  'reads',
  'retries',
  'signal',
  'writ',
  'writes',
]);

export const DEADLINE_MS = 300_000;
export const RETRIES = 3;
const NAME_MAX = 512;

/** The checked options and their claims. */
interface Checked {
  readonly options: TransactionOptions;
  readonly claims: Claim[];
}

/**
 * Copies the options. A caller that reuses the object for its next transaction does not change this
 * one.
 * @throws RuntimeError `bad_intent`; AuthorityError `bad_resource`
 */
export function checkedOptions(given: TransactionOptions, body: unknown): Checked {
  if (typeof given !== 'object' || given === null) throw badIntent('a transaction has options, with a writ');
  if (typeof body !== 'function') throw badIntent('a transaction has a body: a function that is given the transaction');
  // Includes inherited options, which are read like own ones.
  for (const option in given)
    if (!(OPTIONS as ReadonlySet<string>).has(option))
      throw badIntent(`a transaction has no option ${option}; there are ${[...OPTIONS].join(', ')}`);
  const options = {} as { [option: string]: unknown } & TransactionOptions;
  for (const option of OPTIONS) if (given[option] !== undefined) options[option as string] = given[option];
  const { name = 'none', deadlineMs = DEADLINE_MS, idleTimeoutMs = DEADLINE_MS, retries = RETRIES } = options;
  if (typeof name !== 'string' || name === '' || name.length > NAME_MAX - TRANSACTION_KEY.length)
    throw badIntent(`the name of a transaction is a text of 1 to ${NAME_MAX - TRANSACTION_KEY.length} characters`);
  if (!(Number.isSafeInteger(deadlineMs) && deadlineMs > 0 && deadlineMs < 2 ** 31))
    throw badIntent('a deadline is a whole number of milliseconds, more than none');
  if (!(Number.isSafeInteger(idleTimeoutMs) && idleTimeoutMs > 0 && idleTimeoutMs < 2 ** 31))
    throw badIntent('idleTimeoutMs is a whole number of milliseconds, more than none');
  if (!(Number.isSafeInteger(retries) && retries >= 0)) throw badIntent('retries are a whole number');
  const { epoch = 'early', reading = epoch === 'late' ? 'optimistic' : 'ordered' } = options;
  if (epoch !== 'early' && epoch !== 'late') throw badIntent('the epoch is taken early or late');
  if (reading !== 'ordered' && reading !== 'optimistic') throw badIntent('reading is ordered or optimistic');
  if (epoch === 'late' && reading === 'ordered')
    throw badIntent('what has its epoch late can not wait for its turn before, so its reading is optimistic');
  const { writ, principal = '', signal } = options;
  if (typeof writ !== 'string' && (typeof writ !== 'object' || writ === null))
    throw badIntent('a transaction has a writ, or the id of one that is known');
  if (typeof principal !== 'string') throw badIntent('a principal is a text');
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw badIntent('a signal is an AbortSignal');
  return { options, claims: claimsFrom(options) };
}
