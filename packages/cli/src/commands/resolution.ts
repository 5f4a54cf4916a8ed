import {
  anchorsPath,
  CliError,
  callLines,
  EXIT,
  type ExitCode,
  entryNamed,
  green,
  Interrupted,
  line,
  loadTools,
  type OpeningOptions,
  type Output,
  openAssize,
  type RecoveryKeyOptions,
  readRecoveryKey,
  reportingWaits,
  requireLocal,
  rulingLine,
  type Session,
  type SharedOptions,
  untilStopped,
  whenEffectsFree,
} from '@assize/command';
import { isAssizeError, isInstance } from 'assize/internal/base';
import { type EntryRow, pendingEffectIn } from 'assize/internal/ledger';
import { type Ruling, rulingOf, type Trajectory, wholeRuling } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import { amendmentText, readable, rulingView, shortId } from 'assize/internal/views';

/** How a counselor at a terminal was identified: by the operator of the terminal. */
export const METHOD = 'cli';

/** The options of both resolutions. */
export interface ResolvingOptions extends SharedOptions, OpeningOptions, RecoveryKeyOptions {
  readonly as: string;
  readonly digest?: string;
  /** Set if the pending proposal may use tools. */
  readonly tools?: readonly string[];
  readonly wait?: number;
}

/**
 * Finds the pending proposal, calls `check`, runs `resolve` on the open trajectory, and prints the
 * outcome.
 */
export function resolvePending(
  session: Session,
  options: ResolvingOptions,
  text: string,
  wanted: readonly Ruling['ruling'][],
  resolve: (
    trajectory: Trajectory,
    pending: EntryRow,
    digest: { digest?: string },
    store: Store,
  ) => Promise<Ruling>,
  check: () => void = () => undefined,
): Promise<ExitCode> {
  requireLocal(
    session.storeUrl,
    'a server must authenticate its approvers. Run assize serve, and decide with assize api approvals.approve or approvals.reject.',
  );
  return session.withStore('existing', async (store) => {
    const pending = await pendingEntry(store, text);
    check();
    const { wait = 0 } = options;
    const tools = await loadTools(options.tools ?? []);
    const recovery = readRecoveryKey(options.recoveryKey);
    const assize = await openAssize(
      reportingWaits(store, wait),
      session.storeUrl,
      options,
      tools,
      recovery,
    );
    const { interruption } = session;
    const decided = await untilStopped(assize, tools, interruption, async () => {
      const trajectory = await assize.open(pending.trajectory_id);
      if (tools.length > 0) {
        // The approving process executes the buffered effects.
        await whenEffectsFree(interruption, wait, (signal) => assize.recoverEffects(signal));
        interruption.throwIfAborted();
      }
      const ruling = await resolve(trajectory, pending, digestOf(pending, options.digest), store);
      // The buffered effects run before this returns.
      await assize.close();
      return ruling;
    }).catch((error: unknown) => {
      if (isInstance(error, Interrupted))
        throw new Interrupted(error.signal, true, `${shortId(pending.id)} is still pending`);
      throw withAnchors(error, session.storeUrl, options.anchors);
    });
    // The calls ran on until the runtime was closed.
    const ruling =
      decided.ruling === 'committed'
        ? await wholeRuling(rulingOf(decided.entry), store, undefined)
        : decided;
    const { effects = 'settled' } = ruling.ruling === 'committed' ? ruling : {};
    if (interruption.aborted && ruling.ruling === 'committed' && effects !== 'settled') {
      const { signal }: Interrupted = interruption.reason;
      throw new Interrupted(signal, true, committedUntil(ruling.entry));
    }
    say(session, pending, ruling);
    // An expired proposal is rejected, regardless of the counselor's decision.
    return wanted.includes(ruling.ruling) && effects === 'settled' ? EXIT.ok : EXIT.negative;
  });
}

/** The approval is durable, even if its effects are incomplete. */
function committedUntil({ id }: EntryRow): string {
  return `the proposal is committed as ${shortId(id)}, and its calls have not ended; resume them with assize effects recover`;
}

async function pendingEntry(store: Store, text: string): Promise<EntryRow> {
  const row = await entryNamed(store, text);
  const payload = readable(row)?.payload;
  const effect = payload === undefined ? undefined : pendingEffectIn(payload);
  if (effect !== undefined) {
    const { epoch, n, tool } = effect;
    throw new CliError(
      'usage',
      `${shortId(row.id)} is an unresolved effect of ${tool}, not a proposal. Resolve it with: assize effects resolve ${epoch} ${n} --as DECISION --by OPERATOR --evidence TEXT.`,
    );
  }
  if (row.kind === 'pending_approval') return row;
  throw new CliError(
    'usage',
    `The entry ${shortId(row.id)} is a ${row.kind}, not a pending proposal. List pending proposals with assize pending.`,
  );
}

/** The runtime does not know the file of its anchors. */
function withAnchors(error: unknown, storeUrl: string, file: string | undefined): unknown {
  if (!isAssizeError(error, 'bad_writ') || error.evidence['code'] !== 'unknown_anchor')
    return error;
  return new CliError(
    'usage',
    `The writ of the proposal has the root key ${error.evidence['issuer']}, but ${file ?? anchorsPath(storeUrl)} does not. Add the key if you trust it, or pass --anchors FILE.`,
    { cause: error },
  );
}

/**
 * A user may type the first digits of a digest. The runtime requires the full digest, and refuses
 * any other.
 */
function digestOf(row: EntryRow, typed: string | undefined): { digest?: string } {
  if (typed === undefined) return {};
  const payload = readable(row)?.payload;
  const whole = payload?.kind === 'pending_approval' ? payload.digest : '';
  return { digest: typed.length >= 8 && whole.startsWith(typed.toLowerCase()) ? whole : typed };
}

function say({ json, out }: Session, pending: EntryRow, ruling: Ruling): void {
  if (ruling.ruling === 'frozen') throw new CliError('usage', ruling.detail);
  const payload = readable(ruling.entry)?.payload;
  const commit = payload?.kind === 'commit' ? payload : undefined;
  const amended = commit?.amended && { amended: commit.amended.difference };
  if (json) out.document({ ...rulingView(ruling), resolves: pending.id, ...amended });
  else if (ruling.ruling === 'escalated') sayStep(out, ruling);
  else {
    const how = commit && amendmentText(commit);
    out.line(line`${rulingLine(ruling)}${how === undefined ? '' : `, ${how}`}`);
    for (const told of callLines(ruling)) out.line(told);
  }
}

/** The approval is recorded, and further approvals are required. */
function sayStep(
  out: Output,
  { entry, approvals = 1, approvedBy = [] }: Extract<Ruling, { ruling: 'escalated' }>,
): void {
  const { id, seq, trajectory_id } = entry;
  out.line(
    line`${green('approved')} as ${shortId(id)}, ${trajectory_id} seq ${seq}: ${approvedBy.length} of ${approvals}`,
  );
  out.line(line`The proposal needs another approver: assize approve ${shortId(id)} --as PRINCIPAL`);
}
