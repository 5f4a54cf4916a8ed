import {
  EXIT,
  type ExitCode,
  inSession,
  line,
  type Session,
  type SharedOptions,
  withSharedOptions,
} from '@assize/command';
import { counted, shortTime } from 'assize/internal/views';
import { type Command, Option } from 'commander';
import { type DurableRun, RunRecords } from '#agents';
import { runDocument, runStatus } from './run-text.ts';

interface ListOptions extends SharedOptions {
  readonly ended?: boolean;
  readonly tenant?: string;
}

/** The commands of durable runs, in the group `run`. */
export function runs(command: Command): void {
  withSharedOptions(
    command
      .command('list')
      .description('list the runs that have not ended, and what each waits for')
      .addOption(new Option('--ended', 'the runs that have ended'))
      .option('--tenant <name>', 'only the runs of this tenant'),
  ).action(
    inSession((session: Session, options: ListOptions) =>
      session.withStore('readonly', (store) => list(session, new RunRecords(store), options)),
    ),
  );
  withSharedOptions(
    command
      .command('show')
      .description('show the record of a run')
      .argument('<trajectory>', 'trajectory of the run'),
  ).action(onRun('readonly', (records, trajectoryId) => records.get(trajectoryId)));
  withSharedOptions(
    command
      .command('cancel')
      .description(
        'end a run at its next step; committed entries, calls and pending proposals stay',
      )
      .argument('<trajectory>', 'trajectory of the run'),
  ).action(onRun('existing', (records, trajectoryId) => records.cancel(trajectoryId)));
  withSharedOptions(
    command
      .command('retry')
      .description('make a failed run ready again')
      .argument('<trajectory>', 'trajectory of the run'),
  ).action(onRun('existing', (records, trajectoryId) => records.retry(trajectoryId)));
}

async function list(
  { json, out }: Session,
  records: RunRecords,
  options: ListOptions,
): Promise<ExitCode> {
  const { ended = false, tenant } = options;
  const found: DurableRun[] = [];
  for await (const run of records.list({ ended }))
    if (tenant === undefined || run.tenant === tenant) found.push(run);
  if (json) out.document({ runs: found.map(runDocument) });
  else
    out.table(
      [
        { title: 'run' },
        { title: 'agents' },
        { title: 'tenant' },
        { title: 'turns' },
        { title: 'status' },
      ],
      found.map((run) => [run.trajectoryId, run.agents, run.tenant, run.turns, runStatus(run)]),
    );
  return EXIT.ok;
}

/** A command on one run. It prints the record. */
function onRun(
  mode: 'readonly' | 'existing',
  work: (records: RunRecords, trajectoryId: string) => Promise<DurableRun>,
) {
  return inSession((session: Session, _options: SharedOptions, trajectoryId: string) =>
    session.withStore(mode, async (store) => {
      const run = await work(new RunRecords(store), trajectoryId);
      const { json, out } = session;
      if (json) out.document(runDocument(run));
      else for (const told of runLines(run)) out.line(told);
      return EXIT.ok;
    }),
  );
}

function runLines(run: DurableRun) {
  const {
    trajectoryId,
    agents,
    tenant,
    turns,
    turnsMax,
    created,
    updated,
    versions,
    pending = [],
  } = run;
  return [
    line`${trajectoryId} ${runStatus(run)}`,
    line`agents ${agents}, tenant ${tenant}, ${turns} of at most ${counted(turnsMax, 'turn')}`,
    line`started ${shortTime(created)}, changed ${shortTime(updated)}`,
    ...versions.map(
      (each) => line`from turn ${each.turn}: agents ${each.agents}, domain ${each.domain}`,
    ),
    ...pending.map((id) => line`pending ${id}`),
  ];
}
