import {
  EXIT,
  inSession,
  line,
  type Session,
  type SharedOptions,
  shortJson,
  withGroupOptions,
  writsIn,
  yellow,
} from '@assize/command';
import { isEffectPending, isExpired, Replayer } from 'assize/internal/ledger';
import { systemClock } from 'assize/internal/oracle';
import type { Store } from 'assize/internal/stores';
import { shortId, shortTime } from 'assize/internal/views';
import type { Command } from 'commander';
import { StandingReader, type StandingView, standingView } from '#calls';
import { gatewayTrajectories } from '../open-calls.ts';
import { endStanding } from './end.ts';
import { grant } from './grant.ts';

interface ListOptions extends SharedOptions {
  readonly active?: boolean;
}

type Found = StandingView & { readonly trajectory_id: string };

export function standing(program: Command): void {
  const command = withGroupOptions(
    program
      .command('standing')
      .description('list standing approvals with each use, ask for one, and end one')
      .argument('[trajectory]', 'only this trajectory (default: all of the domain gateway)')
      .option('--active', 'only those that can still let calls through'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize standing\n  assize standing calls --active --json\n' +
        '  assize standing grant calls --agent scout --tools bank/pay --uses 10 --amount cents=50000 --until today --because "May invoices"\n' +
        '  assize standing end may-invoices --as manager:grace\n\n' +
        'A standing approval lets calls of one agent through where rules ask, up to a number, amounts and a time.\n' +
        'It never covers rules with `standing: false` or two approvals, unknown tools and changed definitions.\n' +
        'Negative: a trajectory does not verify.',
    )
    .action(
      inSession((session, { active = false }: ListOptions, trajectory?: string) =>
        session.withStore('readonly', async (store) => {
          const found = (await standingIn(session, store, trajectory)).filter(
            ({ status }) => !active || status === 'active',
          );
          const waiting = await waitingIn(store, trajectory);
          if (session.json) session.out.document({ standing: found, waiting });
          else print(session, found, waiting);
          return EXIT.ok;
        }),
      ),
    );
  grant(command);
  endStanding(command);
}

/** The standing approvals of the trajectories, the newest first in each. */
async function standingIn(
  session: Session,
  store: Store,
  named: string | undefined,
): Promise<readonly Found[]> {
  const now = systemClock.now();
  const found: Found[] = [];
  for (const trajectoryId of await gatewayTrajectories(store, named)) {
    session.interruption.throwIfAborted();
    // Reading the writs verifies the trajectory.
    const subjects = new Map(
      (await writsIn(store, trajectoryId)).map(({ id, writ }) => [id, writ.subject]),
    );
    const records = await new StandingReader(store, trajectoryId).read();
    for (const record of [...records].reverse())
      found.push({
        trajectory_id: trajectoryId,
        ...standingView(record, now, (writ) => subjects.get(writ)),
      });
  }
  return found;
}

/** A request for a standing approval that waits for its approval. */
interface WaitingRequest {
  readonly trajectory_id: string;
  /** The id of the pending proposal, for `assize approve`. */
  readonly entry_id: string;
  /** The id of the standing approval. Null after an erasure. */
  readonly id: string | null;
}

async function waitingIn(
  store: Store,
  named: string | undefined,
): Promise<readonly WaitingRequest[]> {
  const replayer = new Replayer(store);
  const now = systemClock.now();
  const found: WaitingRequest[] = [];
  for (const trajectoryId of await gatewayTrajectories(store, named)) {
    const { chain } = await replayer.replay(trajectoryId);
    for (const [entryId, payload] of chain.open) {
      const isRequest = !isEffectPending(payload) && payload.proposal.action.name === 'stand';
      if (!isRequest || isExpired(payload, now)) continue;
      const read = await replayer.values.read(payload, payload.proposal.action.args);
      const { id = null } = ('value' in read ? read.value : {}) as { readonly id?: string };
      found.push({ trajectory_id: trajectoryId, entry_id: entryId, id });
    }
  }
  return found;
}

function print(
  { out, again }: Session,
  found: readonly Found[],
  waiting: readonly WaitingRequest[],
): void {
  for (const { id, trajectory_id, entry_id } of waiting)
    out.line(
      line`${id ?? 'erased'} in ${trajectory_id}: ${yellow('waits')} for its approval as ${shortId(entry_id)}. See: assize pending${again}`,
    );
  if (found.length === 0) {
    if (waiting.length === 0)
      out.line(
        line`There is no standing approval. Ask for one with assize standing grant${again}.`,
      );
    return;
  }
  if (waiting.length > 0) out.line(line``);
  for (const [n, one] of found.entries()) {
    if (n > 0) out.line(line``);
    printOne(out, one);
  }
}

function printOne(out: Session['out'], one: Found): void {
  const { id, trajectory_id, status, terms, used, calls, approved_by, approval_reason, ended } =
    one;
  const mark = status === 'active' ? line`active` : yellow(status.replace('_', ' '));
  out.line(line`${id} in ${trajectory_id}: ${mark}`);
  if (terms === null) out.line(line`  Its terms are erased.`);
  else {
    out.line(
      line`  ${terms.tools.join(', ')} by ${terms.agent}, until ${shortTime(terms.expires)}: ${terms.because}`,
    );
    out.line(line`  ${[`${used} of ${terms.uses} uses`, ...spentTexts(one)].join(', ')}`);
  }
  const reason = approval_reason === undefined ? '' : `: ${approval_reason}`;
  out.line(line`  approved by ${approved_by} at ${shortTime(one.approved_at)}${reason}`);
  if (ended !== undefined)
    out.line(line`  ended by ${ended.by ?? 'an unknown principal'} at ${shortTime(ended.at)}`);
  if (calls.length === 0) return;
  out.table(
    [
      { title: 'call' },
      { title: 'tool' },
      { title: 'time' },
      { title: 'outcome' },
      { title: 'arguments' },
      { title: 'entry' },
    ],
    calls.map(({ call, tool = 'erased', at, outcome = 'not reported', args, entry_id = '' }) => [
      ...[call, tool, shortTime(at), outcome],
      args === undefined ? '' : shortJson(args),
      entry_id.slice(0, 8),
    ]),
  );
  if (calls.length < used) out.line(line`  The newest ${calls.length} of ${used} uses are shown.`);
}

/** `300 of 500 cents` for each unit. */
function spentTexts({ terms, spent }: Found): readonly string[] {
  return Object.entries(terms?.amounts ?? {}).map(
    ([unit, most]) => `${spent[unit] ?? 0} of ${most} ${unit}`,
  );
}
