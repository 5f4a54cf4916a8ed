import {
  type Column,
  count,
  dim,
  EXIT,
  entryAt,
  headOf,
  inSession,
  line,
  positive,
  red,
  type Session,
  type SharedOptions,
  storeFormOf,
  type Value,
  withSharedOptions,
} from '@assize/command';
import {
  type Conclusions,
  causeOf,
  conclusionsOf,
  type DelegationStep,
  overridesText,
  pages,
  readable,
  type Summary,
  shortId,
  shortTime,
  summaryOf,
} from 'assize/internal/views';
import { type Command, Option } from 'commander';
import { paintedRuling } from '../render/ruling.ts';

interface Options extends SharedOptions {
  readonly from: number;
  readonly limit: number;
}

export function log(program: Command): void {
  withSharedOptions(
    program
      .command('log')
      .description('list the trajectories of a store, or the entries of a trajectory')
      .argument('[trajectory]')
      .option(
        '--from <n>',
        'first seq; without a trajectory, the number of trajectories to skip',
        count,
        0,
      )
      .addOption(
        new Option('--limit <n>', 'maximum number of rows')
          .argParser(positive)
          .default(Number.MAX_SAFE_INTEGER, 'all'),
      ),
  )
    .addHelpText(
      'after',
      'Payloads are shown as stored and unverified. assize verify verifies them.',
    )
    .action(
      inSession(async (session, options: Options, trajectory?: string) => {
        await (trajectory === undefined
          ? listTrajectories(session, options)
          : listEntries(session, trajectory, options));
        return EXIT.ok;
      }),
    );
}

function listTrajectories(session: Session, { from, limit }: Options): Promise<void> {
  return session.withStore('readonly', async (store) => {
    const all = await store.trajectories();
    const listed = [];
    for (const { trajectory_id, entries, head } of all.slice(from, from + limit)) {
      session.interruption.throwIfAborted();
      const first = readable(await entryAt(store, trajectory_id, 0))?.payload;
      const begun = first?.kind === 'root' || first?.kind === 'branch' ? first : undefined;
      listed.push({
        trajectory_id,
        entries,
        head,
        domain: begun === undefined ? null : begun.domain,
        source: begun?.kind === 'branch' ? begun.source_trajectory_id : null,
        delegated_from: (begun?.kind === 'root' && begun.delegated_from?.trajectory_id) || null,
        note: begun?.note ?? null,
      });
    }
    const { json, out } = session;
    if (json) return out.document({ trajectories: listed, total: all.length });
    const begun = listed.map(begunText);
    // Most trajectories of a store have no note.
    const isSaid = begun.some((text) => text !== '');
    out.table(
      [...TRAJECTORY_COLUMNS, ...(isSaid ? [{ title: 'origin' }] : [])],
      listed.map(({ trajectory_id, entries, head, domain }, i) => [
        trajectory_id,
        entries,
        shortId(head),
        domain === null ? red('unreadable') : `${domain.name}@${domain.version}`,
        ...(isSaid ? [begun[i] as string] : []),
      ]),
    );
    if (listed.length < all.length)
      out.line(dim(line`${listed.length} of ${all.length} trajectories`));
    const more = (await storeFormOf(session.storeUrl))?.note(session.storeUrl);
    if (more !== undefined) out.line(dim(line`${more}`));
  });
}

const TRAJECTORY_COLUMNS: readonly Column[] = [
  { title: 'trajectory' },
  { title: 'entries', align: 'right' },
  { title: 'head' },
  { title: 'domain' },
];

/** The origin of a trajectory, and its reason. */
function begunText({
  source,
  delegated_from,
  note,
}: {
  readonly source: string | null;
  readonly delegated_from: string | null;
  readonly note: string | null;
}): string {
  return [source && `from ${source}`, delegated_from && `delegated from ${delegated_from}`, note]
    .filter((text) => text !== null)
    .join(': ');
}

const COLUMNS: readonly Column[] = [
  { title: 'seq', align: 'right' },
  { title: 'id' },
  { title: 'at' },
  { title: 'action' },
  { title: 'ruling' },
  { title: 'reason' },
  { title: 'detail' },
  { title: 'arguments' },
];

function listEntries(session: Session, trajectory: string, options: Options): Promise<void> {
  const { json, out, interruption } = session;
  return session.withStore('readonly', async (store) => {
    const head = await headOf(store, trajectory);
    const summaries: Summary[] = [];
    let conclusions: Conclusions | undefined;
    for await (const rows of pages(store, trajectory, options)) {
      interruption.throwIfAborted();
      // Looked up once, from the first delegation on.
      const delegation = rows.find(({ kind }) => kind === 'delegation');
      if (delegation !== undefined)
        conclusions ??= await conclusionsOf(store, trajectory, delegation.seq);
      const page = rows.map((row) => summaryOf(row, conclusions));
      if (json) summaries.push(...page);
      else
        out.table(
          COLUMNS,
          page.map((summary) => [...cells(summary), summary.args ?? '']),
        );
    }
    if (json)
      out.document({
        trajectory_id: trajectory,
        entries: head.seq + 1,
        head: head.id,
        log: summaries,
      });
  });
}

function cells(summary: Summary): Value[] {
  const {
    seq,
    id,
    at,
    action = '',
    reason,
    invariant_id,
    resolves,
    counselor,
    overrides,
    delegation,
  } = summary;
  const detail = delegation === undefined ? (summary.detail ?? '') : toldOf(delegation);
  const resolved =
    resolves === undefined
      ? ''
      : `resolves ${shortId(resolves)}${counselor === undefined ? '' : ` as ${counselor}`}`;
  return [
    seq,
    shortId(id),
    shortTime(at),
    action,
    paintedRuling(summary.ruling),
    causeOf(reason, invariant_id) ?? '',
    [resolved, overrides === undefined ? '' : overridesText(overrides), detail]
      .filter((text) => text !== '')
      .join(': '),
  ];
}

/** `show` prints the rest of a task. */
const TASK_SHOWN = 120;

function toldOf({ step, child, task, started_by, concluded_by }: DelegationStep): string {
  const short = task.length <= TASK_SHOWN ? task : `${task.slice(0, TASK_SHOWN)}…`;
  if (step === 'answer') return `final answer to ${shortId(started_by)}: ${short}`;
  if (step === 'conclusion') return `concludes ${shortId(started_by)} of ${child}: ${short}`;
  return `to ${child}, ${concluded_by == null ? 'open' : `concluded by ${shortId(concluded_by)}`}: ${short}`;
}
