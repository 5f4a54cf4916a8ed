import type { Command } from 'commander';
import { entryAt, headOf, pages, readable, shortId } from '../entries.ts';
import { EXIT } from '../errors.ts';
import { count, positive, withSharedOptions } from '../options.ts';
import type { Column } from '../output.ts';
import { dim, green, line, red, type Value, yellow } from '../printable.ts';
import { inSession, type Session, type SharedOptions } from '../session.ts';
import { type Summary, shortTime, summaryOf } from '../summary.ts';

interface Options extends SharedOptions {
  readonly from: number;
  readonly limit: number;
}

export function log(program: Command): void {
  withSharedOptions(
    program
      .command('log')
      .description('the trajectories of a store, or the entries of one')
      .argument('[trajectory]')
      .option('--from <n>', 'begin at this seq (without a trajectory: skip so many)', count, 0)
      .option('--limit <n>', 'at most so many', positive, Number.MAX_SAFE_INTEGER),
  )
    .addHelpText('after', 'The payloads are shown as they are stored; only assize verify checks them.')
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
        note: begun?.note ?? null,
      });
    }
    const { json, out } = session;
    if (json) return out.document({ trajectories: listed, total: all.length });
    out.table(
      [
        { title: 'trajectory' },
        { title: 'entries', align: 'right' },
        { title: 'head' },
        { title: 'domain' },
        { title: 'begun' },
      ],
      listed.map(({ trajectory_id, entries, head, domain, source, note }) => [
        trajectory_id,
        entries,
        shortId(head),
        domain === null ? red('unreadable') : `${domain.name}@${domain.version}`,
        [source === null ? undefined : `from ${source}`, note ?? undefined].filter(Boolean).join(': '),
      ]),
    );
    if (listed.length < all.length) out.line(dim(line`${listed.length} of ${all.length} trajectories`));
  });
}

const COLUMNS: readonly Column[] = [
  { title: 'seq', align: 'right' },
  { title: 'id' },
  { title: 'kind' },
  { title: 'at' },
  { title: 'action' },
  { title: 'ruling' },
  { title: 'reason' },
  { title: 'detail' },
];

function listEntries(session: Session, trajectory: string, options: Options): Promise<void> {
  const { json, out, interruption } = session;
  return session.withStore('readonly', async (store) => {
    const head = await headOf(store, trajectory);
    const summaries: Summary[] = [];
    for await (const rows of pages(store, trajectory, options)) {
      interruption.throwIfAborted();
      if (json) summaries.push(...rows.map(summaryOf));
      else out.table(COLUMNS, rows.map(summaryOf).map(cells));
    }
    if (json) out.document({ trajectory_id: trajectory, entries: head.seq + 1, head: head.id, log: summaries });
  });
}

function cells(summary: Summary): Value[] {
  const { seq, id, kind, at, action = '', reason, invariant_id, detail = '', resolves, counselor } = summary;
  const resolved =
    resolves === undefined ? '' : `resolves ${shortId(resolves)}${counselor === undefined ? '' : ` as ${counselor}`}`;
  return [
    seq,
    shortId(id),
    kind,
    shortTime(at),
    action,
    painted(summary.ruling),
    invariant_id ?? reason ?? '',
    [resolved, detail].filter((text) => text !== '').join(': '),
  ];
}

function painted(ruling: Summary['ruling']): Value {
  if (ruling === 'committed') return green(ruling);
  if (ruling === 'rejected' || ruling === 'unreadable') return red(ruling);
  return ruling === 'escalated' ? yellow(ruling) : ruling;
}
