import {
  CliError,
  EXIT,
  green,
  INSTANT_HELP,
  inSession,
  instantOrDay,
  line,
  type Printable,
  printFacts,
  readingAssize,
  red,
  type Session,
  withSharedOptions,
  yellow,
} from '@assize/command';
import type { Instant } from 'assize/internal/canon';
import type { Difference, FactRow, Point } from 'assize/internal/memory';
import { systemClock } from 'assize/internal/oracle';
import { type Command, Option } from 'commander';
import { type AboutOptions, about, given } from './recall.ts';

interface Options extends AboutOptions {
  readonly fromValid?: Instant;
  readonly fromSystem?: Instant;
  readonly toValid?: Instant;
  readonly toSystem?: Instant;
}

export function diff(command: Command): void {
  const instant = (flags: string, what: string) =>
    new Option(flags, `${what} (default: now)`).argParser(instantOrDay);
  withSharedOptions(
    about(command.command('diff').description('compare the facts at two points of both times'))
      .addOption(instant('--from-valid <instant>', 'valid time of the first point'))
      .addOption(instant('--from-system <instant>', 'system time of the first point'))
      .addOption(instant('--to-valid <instant>', 'valid time of the second point'))
      .addOption(instant('--to-system <instant>', 'system time of the second point')),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize memory diff --space ward-3 --from-system 2026-04-17\n' +
        '  assize memory diff --space ward-3 --from-valid 2026-04-01 --to-valid 2026-04-16\n\n' +
        `${INSTANT_HELP}\n+ holds at the second point only, - at the first only, ~ has another version. No domain is needed.`,
    )
    .action(
      inSession((session, options: Options) => {
        const { fromValid, fromSystem, toValid, toSystem } = options;
        if (![fromValid, fromSystem, toValid, toSystem].some((at) => at !== undefined))
          throw new CliError(
            'usage',
            'Both points are the current time. Pass --from-valid, --from-system, --to-valid or --to-system.',
          );
        const now = systemClock.now();
        const point = (valid = now, system = now): Point => ({ valid, system });
        return session.withStore('readonly', async (store) => {
          const memory = readingAssize(store).memory(options.space, options.trajectory);
          const [from, to] = [point(fromValid, fromSystem), point(toValid, toSystem)];
          print(
            session,
            await memory.diff(from, to, given(options, 'subject', 'predicate')),
            from,
            to,
          );
          return EXIT.ok;
        });
      }),
    );
}

function print(
  { json, out }: Session,
  { added, removed, revised }: Difference,
  from: Point,
  to: Point,
): void {
  if (json) {
    out.document({ from, to, added, removed, revised });
    return;
  }
  const marked: [Printable, FactRow][] = [
    ...removed.map((row): [Printable, FactRow] => [red('-'), row]),
    ...added.map((row): [Printable, FactRow] => [green('+'), row]),
    ...revised.map(({ to: row }): [Printable, FactRow] => [yellow('~'), row]),
  ];
  if (marked.length === 0) out.line(line`The facts are the same at both points.`);
  else
    printFacts(
      out,
      marked.map(([, row]) => row),
      marked.map(([mark]) => mark),
    );
}
