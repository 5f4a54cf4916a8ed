import { type EntryRow, isAssizeError, type Ruling, type Store, type Trajectory } from 'assize';
import { effectWaitingIn } from 'assize/ledger';
import { anchorsPath } from './anchors.ts';
import { findEntry, readable, shortId } from './entries.ts';
import { CliError, EXIT, type ExitCode } from './errors.ts';
import type { OpeningOptions } from './options.ts';
import type { Output } from './output.ts';
import { green, line, red } from './printable.ts';
import { openAssize } from './runtime.ts';
import type { Session, SharedOptions } from './session.ts';
import { loadTools, whenFree } from './tools.ts';

/** How a counselor who types at a terminal was identified: by whoever let them at it. */
export const METHOD = 'cli';

/** What both ways to resolve have. */
export interface ResolvingOptions extends SharedOptions, OpeningOptions {
  readonly as: string;
  readonly digest?: string;
  /** Where what waits may use tools. */
  readonly tools?: readonly string[];
  readonly wait?: number;
}

/** Finds what is pending, asks `check`, lets `resolve` do its part on the open trajectory, and says what became of it. */
export function resolvePending(
  session: Session,
  options: ResolvingOptions,
  prefix: string,
  wanted: readonly Ruling['ruling'][],
  resolve: (trajectory: Trajectory, pending: EntryRow, digest: { digest?: string }) => Promise<Ruling>,
  check: () => void = () => undefined,
): Promise<ExitCode> {
  return session.withStore('existing', async (store) => {
    const pending = await pendingEntry(store, prefix);
    check();
    const { tools = [], wait = 0 } = options;
    const assize = await openAssize(store, session.storeUrl, options, await loadTools(tools));
    const trajectory = await assize.open(pending.trajectory_id);
    // Who approves carries out what was held.
    if (tools.length > 0) await whenFree(session.interruption, wait, (signal) => assize.recoverEffects(signal));
    const ruling = await resolve(trajectory, pending, digestOf(pending, options.digest)).catch((error: unknown) => {
      throw withAnchors(error, session.storeUrl, options.anchors);
    });
    say(session, pending, ruling);
    await assize.close();
    // What expired is rejected, whatever the counselor wanted.
    return wanted.includes(ruling.ruling) ? EXIT.ok : EXIT.negative;
  });
}

async function pendingEntry(store: Store, prefix: string): Promise<EntryRow> {
  const row = await findEntry(store, prefix);
  const payload = readable(row)?.payload;
  const effect = payload === undefined ? undefined : effectWaitingIn(payload);
  if (effect !== undefined) {
    const { epoch, n, tool } = effect;
    throw new CliError(
      'usage',
      `${shortId(row.id)} is what ${tool} did, and nobody approves or rejects that; say what became of it: assize effects resolve ${epoch} ${n} --as DECISION --by WHO --evidence TEXT.`,
    );
  }
  if (row.kind === 'pending_approval') return row;
  throw new CliError(
    'usage',
    `The entry ${shortId(row.id)} is a ${row.kind}, nothing that waits; assize pending lists what does.`,
  );
}

/** The runtime can't know where its anchors were read from. */
function withAnchors(error: unknown, storeUrl: string, file: string | undefined): unknown {
  if (!isAssizeError(error, 'bad_writ') || error.evidence['code'] !== 'unknown_anchor') return error;
  return new CliError(
    'usage',
    `The writ that this was proposed under is by the root ${error.evidence['issuer']}, which is not in ${file ?? anchorsPath(storeUrl)}; add that key if it is to be trusted, or name another file with --anchors FILE.`,
    { cause: error },
  );
}

/** People may type the first digits of a digest; the runtime wants the whole, and refuses another one. */
function digestOf(row: EntryRow, typed: string | undefined): { digest?: string } {
  if (typed === undefined) return {};
  const payload = readable(row)?.payload;
  const whole = payload?.kind === 'pending_approval' ? payload.digest : '';
  return { digest: typed.length >= 8 && whole.startsWith(typed.toLowerCase()) ? whole : typed };
}

function say({ json, out }: Session, pending: EntryRow, ruling: Ruling): void {
  if (ruling.ruling === 'frozen') throw new CliError('usage', ruling.detail);
  const { id, seq, trajectory_id } = ruling.entry;
  const why =
    ruling.ruling === 'rejected'
      ? { reason: ruling.reason, detail: ruling.detail }
      : ruling.ruling === 'escalated'
        ? { approvals: ruling.approvals, approved_by: ruling.approvedBy }
        : {};
  if (json) out.document({ ruling: ruling.ruling, resolves: pending.id, trajectory_id, seq, entry_id: id, ...why });
  else if (ruling.ruling === 'committed')
    out.line(line`${green('committed')} as ${shortId(id)}, ${trajectory_id} seq ${seq}`);
  else if (ruling.ruling === 'escalated') sayStep(out, ruling);
  else out.line(line`${red('rejected')} as ${shortId(id)}, ${trajectory_id} seq ${seq}: ${ruling.detail}`);
}

/** It was approved, and others have to approve it too. */
function sayStep(
  out: Output,
  { entry, approvals = 1, approvedBy = [] }: Extract<Ruling, { ruling: 'escalated' }>,
): void {
  const { id, seq, trajectory_id } = entry;
  out.line(
    line`${green('approved')} as ${shortId(id)}, ${trajectory_id} seq ${seq}: ${approvedBy.length} of ${approvals}`,
  );
  out.line(line`It is not done yet. Somebody else approves it with assize approve ${shortId(id)} --as WHO.`);
}
