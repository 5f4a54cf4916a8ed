import { isAssizeError, isInstance } from '#base';
import { isUnresolved } from '#effects';
import { type EntryRow, pendingEffectIn, readRow } from '#ledger';
import type { EffectTransaction, Ruling, Trajectory } from '#runtime';
import type { Store } from '#stores';
import { amendmentText, counted, readable, shortId } from '#views';
import { CliError, EXIT, type ExitCode } from '../errors.ts';
import type { OpeningOptions } from '../files/options.ts';
import { entryNamed } from '../input/points.ts';
import { hasEnded } from '../render/effects-text.ts';
import { anchorsPath } from '../store/anchors.ts';
import { type RecoveryKeyOptions, readRecoveryKey } from '../store/recovery-key.ts';
import { requireLocal } from '../store/root-key.ts';
import { openAssize, readingAssize } from '../store/runtime.ts';
import type { Session, SharedOptions } from '../store/session.ts';
import { loadTools, reportingWaits, untilStopped, whenEffectsFree } from '../store/tools.ts';
import { Interrupted } from '../terminal/interrupt.ts';
import type { Output } from '../terminal/output.ts';
import { green, line, red, yellow } from '../terminal/printable.ts';

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
  resolve: (trajectory: Trajectory, pending: EntryRow, digest: { digest?: string }) => Promise<Ruling>,
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
    const assize = await openAssize(reportingWaits(store, wait), session.storeUrl, options, tools, recovery);
    const { interruption } = session;
    const ruling = await untilStopped(assize, tools, interruption, async () => {
      const trajectory = await assize.open(pending.trajectory_id);
      if (tools.length > 0) {
        // The approving process executes the buffered effects.
        await whenEffectsFree(interruption, wait, (signal) => assize.recoverEffects(signal));
        interruption.throwIfAborted();
      }
      const ruling = await resolve(trajectory, pending, digestOf(pending, options.digest));
      // The buffered effects run before this returns.
      await assize.close();
      return ruling;
    }).catch((error: unknown) => {
      if (isInstance(error, Interrupted))
        throw new Interrupted(error.signal, true, `${shortId(pending.id)} is still pending`);
      throw withAnchors(error, session.storeUrl, options.anchors);
    });
    const done = ruling.ruling === 'committed' ? await effectsOf(store, ruling.entry.id) : undefined;
    if (interruption.aborted && ruling.ruling === 'committed' && done !== undefined && !hasEnded(done.phase)) {
      const { signal }: Interrupted = interruption.reason;
      throw new Interrupted(signal, true, committedUntil(ruling.entry, done));
    }
    say(session, pending, ruling, done);
    // An expired proposal is rejected, regardless of the counselor's decision.
    return wanted.includes(ruling.ruling) && (done === undefined || hasEnded(done.phase)) ? EXIT.ok : EXIT.negative;
  });
}

/** The approval is durable, even if its effects are incomplete. */
function committedUntil({ id }: EntryRow, { epoch }: EffectTransaction): string {
  return `the proposal is committed as ${shortId(id)}, and transaction ${epoch} has not ended; resume it with assize effects recover`;
}

/** The outcome of the effects that a commit names. Undefined if it names none. */
async function effectsOf(store: Store, commitId: string): Promise<EffectTransaction | undefined> {
  const row = await store.resolve(commitId);
  const payload = row === undefined ? undefined : readRow(row).payload;
  const [effect] = payload?.kind === 'commit' ? payload.delta.effects : [];
  const place = effect && (await store.effectKey(effect.id));
  if (place === undefined) return undefined;
  const [transaction] = await readingAssize(store).effects({ epoch: place.epoch });
  return transaction;
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
  if (!isAssizeError(error, 'bad_writ') || error.evidence['code'] !== 'unknown_anchor') return error;
  return new CliError(
    'usage',
    `The writ of the proposal has the root key ${error.evidence['issuer']}, which is not in ${file ?? anchorsPath(storeUrl)}. Add the key if you trust it, or pass --anchors FILE.`,
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

function say({ json, out }: Session, pending: EntryRow, ruling: Ruling, done: EffectTransaction | undefined): void {
  if (ruling.ruling === 'frozen') throw new CliError('usage', ruling.detail);
  const { id, seq, trajectory_id } = ruling.entry;
  const why =
    ruling.ruling === 'rejected'
      ? { reason: ruling.reason, detail: ruling.detail }
      : ruling.ruling === 'escalated'
        ? { approvals: ruling.approvals, approved_by: ruling.approvedBy }
        : {};
  const payload = readable(ruling.entry)?.payload;
  const commit = payload?.kind === 'commit' ? payload : undefined;
  if (json)
    out.document({
      ruling: ruling.ruling,
      resolves: pending.id,
      trajectory_id,
      seq,
      entry_id: id,
      ...why,
      ...(commit?.amended === undefined ? {} : { amended: commit.amended.difference }),
      ...described(done),
    });
  else if (ruling.ruling === 'committed') {
    const amended = commit && amendmentText(commit);
    const how = amended === undefined ? '' : `, ${amended}`;
    out.line(line`${green('committed')} as ${shortId(id)}, ${trajectory_id} seq ${seq}${how}`);
    if (done !== undefined) sayEffects(out, done);
  } else if (ruling.ruling === 'escalated') sayStep(out, ruling);
  else out.line(line`${red('rejected')} as ${shortId(id)}, ${trajectory_id} seq ${seq}: ${ruling.detail}`);
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

/** Same form as in `assize effects list --json`. */
function described(done: EffectTransaction | undefined): object {
  if (done === undefined) return {};
  const effects = done.effects.map(({ n, tool, key, phase }) => ({
    n,
    tool,
    key,
    phase,
    needs_human: isUnresolved(phase),
  }));
  return { transaction: { epoch: done.epoch, phase: done.phase, effects } };
}

function sayEffects(out: Output, { epoch, trajectoryId, phase, effects }: EffectTransaction): void {
  for (const { tool, phase: is } of effects)
    out.line(isUnresolved(is) ? line`${tool} is ${yellow(is)}, and needs a human decision.` : line`${tool} is ${is}.`);
  const waiting = effects.filter((effect) => isUnresolved(effect.phase)).length;
  if (waiting > 0) {
    const what = line`${yellow(counted(waiting, 'effect'))} of transaction ${epoch} ${waiting === 1 ? 'needs' : 'need'} a human decision.`;
    out.line(line`${what} List it with assize effects list ${trajectoryId}.`);
  } else if (!hasEnded(phase))
    out.line(line`Transaction ${epoch} has not ended. Resume it with assize effects recover.`);
}
