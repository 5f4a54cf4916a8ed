import {
  bold,
  EXIT,
  inSession,
  instantOrDay,
  line,
  type Session,
  type SharedOptions,
  shortJson,
  withSharedOptions,
  yellow,
} from '@assize/command';
import type { Instant } from 'assize/internal/canon';
import { Replayer } from 'assize/internal/ledger';
import { systemClock } from 'assize/internal/oracle';
import type { Store } from 'assize/internal/stores';
import { counted, shortTime } from 'assize/internal/views';
import { type Command, Option } from 'commander';
import { type RuleCount, type RulesReport, rulesReport, spanBefore } from '#calls';
import { type GatewayState, type Observation, observingText, rulesStatus } from '#gateway';
import { gatewayTrajectories } from '../open-calls.ts';
import { rulesFileNamed } from '../rules-files.ts';
import { markFalseAlarm } from './mark.ts';

interface Options extends SharedOptions {
  readonly since: Instant;
  readonly mark?: string;
  readonly rules?: string;
}

export function report(command: Command): void {
  withSharedOptions(
    command
      .command('report')
      .description('what was asked and refused, or would have been, by rule, agent and call')
      .argument('[trajectory]', 'only this trajectory (default: all of the domain gateway)')
      .addOption(sinceOption())
      .option(
        '--mark <call>',
        'add the call, a false alarm, to the cases of the rules: it is let through',
      )
      .option('--rules <file>', 'the rules file of --mark (default: that of the configuration)'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize rules report --since 7d\n  assize rules report --mark s1.toolu_7 --rules assize.yaml\n\n' +
        'observed: what the rules would have ruled that are only observed. trial: the trial set beside the rules.\n' +
        'force: what was asked and refused.',
    )
    .action(
      inSession((session, { since, mark, rules }: Options, named?: string) =>
        session.withStore('readonly', async (store) => {
          const ids = await gatewayTrajectories(store, named);
          if (mark !== undefined) {
            const file = await markFalseAlarm(store, ids, {
              call: mark,
              file: rulesFileNamed(rules),
              since,
            });
            if (session.json) session.out.document({ call: mark, cases: file });
            else
              session.out.line(line`${mark} is a case of ${file}. Run it with assize policy test.`);
            return EXIT.ok;
          }
          const found = await rulesReport(store, ids, since);
          const worlds = await statuses(store, ids);
          if (session.json) session.out.document({ worlds, ...found });
          else print(session, worlds, found);
          return EXIT.ok;
        }),
      ),
    );
}

export function sinceOption(): Option {
  const option = new Option('--since <time>', '7d, 12h, today, yesterday, an instant or a day');
  return option
    .argParser((text: string) => spanBefore(text, systemClock.now()) ?? instantOrDay(text))
    .default(spanBefore('7d', systemClock.now()), '7d');
}

interface World extends ReturnType<typeof rulesStatus> {
  readonly trajectory_id: string;
}

async function statuses(store: Store, ids: readonly string[]): Promise<World[]> {
  const replayer = new Replayer(store);
  const worlds: World[] = [];
  for (const id of ids) {
    const state = (await replayer.replay(id)).fold.state as unknown as GatewayState;
    worlds.push({ trajectory_id: id, ...rulesStatus(state, systemClock.now()) });
  }
  return worlds;
}

function print({ out }: Session, worlds: readonly World[], found: RulesReport): void {
  for (const { trajectory_id, id, observing, trial } of worlds) {
    const texts = [
      ...(observing === undefined ? [] : [observingText(observing as Observation)]),
      ...(trial === undefined ? [] : [`trying ${trial.id} until ${trial.until}`]),
    ];
    out.line(line`${bold(trajectory_id)}: rules ${id}${texts.length === 0 ? ', in force' : ''}`);
    for (const text of texts) out.line(line`  ${yellow(text)}`);
  }
  out.line(line``);
  if (found.rules.length > 0) {
    out.table(
      [
        { title: 'set' },
        { title: 'rule' },
        { title: 'ruling' },
        { title: 'calls' },
        { title: 'agents' },
        { title: 'tools' },
        { title: 'newest' },
      ],
      found.rules.map(rowOf),
    );
    out.line(line``);
  }
  const judged = `${counted(found.calls, 'call')} since ${shortTime(found.since)}`;
  const tried = found.tried === 0 ? '' : `, ${found.tried} of them by the trial set too`;
  const changes = found.changes.length;
  const changed = changes === 0 ? '' : ` The rules were changed ${counted(changes, 'time')}.`;
  out.line(line`${judged}${tried}.${changed}`);
  for (const { from, to, calls, agents } of found.gaps)
    out.line(
      line`No server recorded ${counted(calls, 'call')} of ${most(agents)}, ${from} to ${to}.`,
    );
}

function rowOf({ set, rule, ruling, calls, agents, tools, examples }: RuleCount) {
  const [newest] = examples;
  const said = newest?.call ?? (newest && `${newest.trajectory_id}@${newest.seq}`) ?? '';
  const args = newest?.args === undefined ? '' : ` ${shortJson(newest.args)}`;
  return [set, rule, ruling, String(calls), most(agents), most(tools), `${said}${args}`];
}

/** The names with the most calls. */
function most(counts: Readonly<Record<string, number>>): string {
  const names = Object.entries(counts).sort(([, a], [, b]) => b - a);
  const shown = names.slice(0, 3).map(([name, count]) => `${name} ${count}`);
  return names.length > 3 ? `${shown.join(', ')}, …` : shown.join(', ');
}
