import {
  type Column,
  count,
  dim,
  EXIT,
  entryAt,
  headOf,
  inSession,
  instantOrDay,
  line,
  positive,
  red,
  type Session,
  type SharedOptions,
  storeFormOf,
  type Value,
  withSharedOptions,
} from '@assize/command';
import { spanBefore } from '@assize/gate/internal/calls';
import { type NameKind, named, valuesOf, walkEntries } from '@assize/server/internal/activity';
import type { Instant } from 'assize/internal/canon';
import { systemClock } from 'assize/internal/oracle';
import {
  type Conclusions,
  causeOf,
  conclusionsOf,
  type DelegationStep,
  decidedBy,
  overridesText,
  pages,
  RULINGS,
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
  readonly since?: Instant;
  readonly until?: Instant;
  readonly by?: string;
  readonly ruling?: string;
  readonly rule?: string;
  readonly tool?: string;
  readonly text?: string;
}

/** The options that choose entries of all trajectories, newest first. */
const CHOOSING = ['since', 'until', 'by', 'ruling', 'rule', 'tool', 'text'] as const;

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
      )
      .addOption(timeOption('--since <time>', 'entries from this time on'))
      .addOption(timeOption('--until <time>', 'entries before this time'))
      .option('--by <principal>', 'entries that this agent asked for, or this person decided')
      .addOption(new Option('--ruling <ruling>', 'entries with this ruling').choices(RULINGS))
      .option('--rule <rule>', 'entries that this rule refused or asked about')
      .option('--tool <tool>', 'entries with a call of this tool')
      .option('--text <text>', 'entries with this text in their summary'),
  )
    .addHelpText(
      'after',
      '\nWith --since, --until, --by, --ruling, --rule, --tool or --text: the entries of all trajectories, or of one, newest first.\n\n' +
        'Example: assize log --since 12h --ruling rejected --by agent:scout\n\n' +
        'Payloads are shown as stored and unverified. assize verify verifies them.',
    )
    .action(
      inSession(async (session, options: Options, trajectory?: string) => {
        if (CHOOSING.some((name) => options[name] !== undefined))
          await findAll(session, options, trajectory);
        else if (trajectory === undefined) await listTrajectories(session, options);
        else await listEntries(session, trajectory, options);
        return EXIT.ok;
      }),
    );
}

/** An option with a time: a span before now, an instant or a day. */
function timeOption(flags: string, text: string): Option {
  return new Option(flags, `${text}: 7d, 12h, today, yesterday, an instant or a day`).argParser(
    (given: string) => spanBefore(given, systemClock.now()) ?? instantOrDay(given),
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
  { title: 'head', narrow: 'drop' },
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
  { title: 'id', narrow: 'drop' },
  { title: 'at', narrow: 'time' },
  { title: 'action' },
  { title: 'ruling' },
  { title: 'reason', narrow: 'cut' },
  { title: 'detail', narrow: 'cut' },
  { title: 'arguments', narrow: 'cut' },
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
      const page = rows.map((row) => summaryOf(row, { conclusions }));
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

const FOUND_COLUMNS: readonly Column[] = [
  { title: 'entry' },
  { title: 'by', narrow: 'cut' },
  ...COLUMNS.slice(2),
];

/** Entries that the options choose, newest first. A page is printed when it is found. */
function findAll(session: Session, options: Options, trajectory?: string): Promise<void> {
  const { json, out, interruption } = session;
  const { since, until, text, by, ruling, rule, tool, limit } = options;
  const asked = { by, ruling, rule, tool, in: trajectory };
  const names = Object.entries(asked).flatMap(([kind, value]) =>
    value === undefined ? [] : [named(kind as NameKind, value)],
  );
  return session.withStore('readonly', async (store) => {
    if (trajectory !== undefined) await headOf(store, trajectory);
    const found: object[] = [];
    for await (const page of walkEntries(store, { since, until, text, names, limit })) {
      interruption.throwIfAborted();
      if (json)
        for (const { row, facts } of page)
          found.push({
            trajectory_id: row.trajectory_id,
            by: valuesOf('by', facts.names),
            ...summaryOf(row),
          });
      else
        out.table(
          FOUND_COLUMNS,
          page.map(({ row, facts }) => {
            const summary = summaryOf(row);
            const [, , ...more] = cells(summary);
            return [
              `${row.trajectory_id}@${row.seq}`,
              valuesOf('by', facts.names).join(' '),
              ...more,
              summary.args ?? '',
            ];
          }),
        );
    }
    if (json) out.document({ log: found });
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
    overrides,
    delegation,
  } = summary;
  const detail = delegation === undefined ? (summary.detail ?? '') : toldOf(delegation);
  const resolved = resolves === undefined ? '' : `resolves ${shortId(resolves)}`;
  return [
    seq,
    shortId(id),
    shortTime(at),
    action,
    paintedRuling(summary.ruling),
    causeOf(reason, invariant_id) ?? '',
    [decidedBy(summary), resolved, overrides === undefined ? '' : overridesText(overrides), detail]
      .filter((text) => text !== undefined && text !== '')
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
