import type { Claim } from '#effects';
import { badIntent, type ProposalInput, TRANSACTION_KEY } from '../../records/intent.ts';
import { claimsFrom } from './claims.ts';

/** The limits and permissions of a tool transaction, as the caller requests them. */
export interface TransactionOptions extends Pick<ProposalInput, 'writ' | 'principal'> {
  /**
   * The caller's name of the transaction, 1 to 512 characters. The same name denotes the same
   * transaction, also after a crash, and gets the same ruling. The body then runs again with the
   * recorded answers, and other content is refused (`idempotency_conflict`). Without a name, a
   * crash leaves nothing to repeat, and less is written. The name stays in the effect log
   * permanently and cannot be erased: use an order number, not a person's name.
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
   * do not count as idle. Default: half of the runtime's `effects.blockTimeoutMs`,
   * one minute.
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
   * not wait and are validated at the gate. If a value has changed, the transaction restarts. After
   * three stale attempts it waits as with `ordered` and an early epoch, so it does not starve.
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
 * @throws RuntimeError `bad_intent`; AuthorityError `bad_argument`
 */
export function checkedOptions(given: TransactionOptions, body: unknown): Checked {
  if (typeof given !== 'object' || given === null)
    throw badIntent('a transaction must have options with a writ');
  if (typeof body !== 'function')
    throw badIntent('a transaction must have a body: a function that receives the transaction');
  // Includes inherited options: they are read like own ones.
  for (const option in given)
    if (!(OPTIONS as ReadonlySet<string>).has(option))
      throw badIntent(
        `a transaction has no option ${option}; the options are ${[...OPTIONS].join(', ')}`,
      );
  const options = {} as { [option: string]: unknown } & TransactionOptions;
  for (const option of OPTIONS)
    if (given[option] !== undefined) options[option as string] = given[option];
  const {
    name = 'none',
    deadlineMs = DEADLINE_MS,
    idleTimeoutMs = DEADLINE_MS,
    retries = RETRIES,
  } = options;
  if (typeof name !== 'string' || name === '' || name.length > NAME_MAX - TRANSACTION_KEY.length)
    throw badIntent(
      `the name of a transaction must be text of 1 to ${NAME_MAX - TRANSACTION_KEY.length} characters`,
    );
  if (!(Number.isSafeInteger(deadlineMs) && deadlineMs > 0 && deadlineMs < 2 ** 31))
    throw badIntent('deadlineMs must be a whole number of milliseconds above 0');
  if (!(Number.isSafeInteger(idleTimeoutMs) && idleTimeoutMs > 0 && idleTimeoutMs < 2 ** 31))
    throw badIntent('idleTimeoutMs must be a whole number of milliseconds above 0');
  if (!(Number.isSafeInteger(retries) && retries >= 0))
    throw badIntent('retries must be a whole number from 0');
  const { epoch = 'early', reading = epoch === 'late' ? 'optimistic' : 'ordered' } = options;
  if (epoch !== 'early' && epoch !== 'late') throw badIntent('epoch must be early or late');
  if (reading !== 'ordered' && reading !== 'optimistic')
    throw badIntent('reading must be ordered or optimistic');
  if (epoch === 'late' && reading === 'ordered')
    throw badIntent('with a late epoch, reading must be optimistic');
  const { writ, principal = '', signal } = options;
  if (typeof writ !== 'string' && (typeof writ !== 'object' || writ === null))
    throw badIntent('a transaction must have a writ, or the id of a known writ');
  if (typeof principal !== 'string') throw badIntent('`principal` must be a string');
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw badIntent('`signal` must be an AbortSignal');
  return { options, claims: claimsFrom(options) };
}
