import type { Claim } from '#effects';
import { badIntent, type ProposalInput, TRANSACTION_KEY } from '../../records/intent.ts';
import { claimsFrom } from './claims.ts';

/** What a transaction of tools may do, and how long: as it is said when it is asked for. */
export interface TransactionOptions extends Pick<ProposalInput, 'writ' | 'principal'> {
  /**
   * The caller's own name of it, 1 to 512 characters: the same name again is the same transaction, whatever became of the process,
   * and gets the same ruling. Without one a crash leaves nothing to repeat, and less is written. It stands in the effect log for good,
   * where no erasure reaches it: a number of an order, and no name of a person.
   */
  readonly name?: string;
  /** Resources that it may read and write, as scopes; a call that touches anything else is refused. */
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  /** Milliseconds after which it is undone, from begin to gate, also while it waits for others. Default 300,000. */
  readonly deadlineMs?: number;
  /**
   * Milliseconds after which a body is taken for hung, and undone: in which it called nothing here, and nothing that it called came
   * back. Waiting for who is older, and for a tool that acts, does not count. Default: half of the runtime's `holdMs`, a minute.
   */
  readonly idleMs?: number;
  /**
   * `early`: the epoch is taken, and claims are registered, before the body runs. `late`: at the gate, when the body is done; for what
   * is held until the commit, and reads that do not wait. Others wait for it only that long. Default `early`.
   */
  readonly epoch?: 'early' | 'late';
  /**
   * `ordered`: reads wait for older writers, and are what they will be at the commit. `optimistic`: they do not wait, are read again
   * at the gate, and where one has another value then, the transaction begins anew. Default `ordered`, and `optimistic` where the
   * epoch is late.
   */
  readonly reading?: 'ordered' | 'optimistic';
  /**
   * Begins anew so often, with another epoch, where it was stale, or a tool said that it did nothing: then after a pause, as long as the tool
   * asks for, and not where that is longer than `deadlineMs`. Default 3.
   */
  readonly retries?: number;
  readonly signal?: AbortSignal;
}

/** A slip of the pen would be passed over, and a time limit with it. */
const OPTIONS: ReadonlySet<keyof TransactionOptions> = new Set([
  'deadlineMs',
  'epoch',
  'idleMs',
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

/** What is asked for, and what that claims. */
interface Checked {
  readonly options: TransactionOptions;
  readonly claims: Claim[];
}

/**
 * The options as they are now: who goes on with the same object for the next transaction changes nothing of this one.
 * @throws RuntimeError `bad_intent`; AuthorityError `bad_resource`
 */
export function checkedOptions(given: TransactionOptions, body: unknown): Checked {
  if (typeof given !== 'object' || given === null) throw badIntent('a transaction has options, with a writ');
  if (typeof body !== 'function') throw badIntent('a transaction has a body: a function that is given the transaction');
  // Inherited ones too: they are read like own ones.
  for (const option in given)
    if (!(OPTIONS as ReadonlySet<string>).has(option))
      throw badIntent(`a transaction has no option ${option}; there are ${[...OPTIONS].join(', ')}`);
  const options = {} as { [option: string]: unknown } & TransactionOptions;
  for (const option of OPTIONS) if (given[option] !== undefined) options[option as string] = given[option];
  const { name = 'none', deadlineMs = DEADLINE_MS, idleMs = DEADLINE_MS, retries = RETRIES } = options;
  if (typeof name !== 'string' || name === '' || name.length > NAME_MAX - TRANSACTION_KEY.length)
    throw badIntent(`the name of a transaction is a text of 1 to ${NAME_MAX - TRANSACTION_KEY.length} characters`);
  if (!(Number.isSafeInteger(deadlineMs) && deadlineMs > 0 && deadlineMs < 2 ** 31))
    throw badIntent('a deadline is a whole number of milliseconds, more than none');
  if (!(Number.isSafeInteger(idleMs) && idleMs > 0 && idleMs < 2 ** 31))
    throw badIntent('idleMs is a whole number of milliseconds, more than none');
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
