import { existsSync, globSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  bold,
  CliError,
  cloneFolder,
  dim,
  EXIT,
  type ExitCode,
  green,
  inSession,
  line,
  note,
  type Printable,
  printable,
  readText,
  red,
  repeatable,
  replaceFile,
  type Session,
  type StorelessOptions,
  withoutStore,
} from '@assize/command';
import { isAssizeError } from 'assize/internal/base';
import type { Command } from 'commander';
import {
  type ConformanceReport,
  cellOf,
  conformanceMarkdown,
  type DriverCommand,
  runConformance,
  SCENARIOS,
  type ScenarioVerdict,
  unjudgedReport,
} from '#conformance';

interface Options extends StorelessOptions {
  readonly driver: readonly string[];
  readonly peers?: boolean;
  readonly scenario: readonly string[];
  readonly markdown?: readonly string[] | true;
}

export function conformance(program: Command): void {
  withoutStore(
    program
      .command('conformance')
      .description(
        'check that a runtime makes an approved call once; without a driver, list the scenarios',
      )
      .addOption(repeatable('--driver <command>', 'command line of a driver, started by the shell'))
      .option('--peers', 'run the drivers of this repository, each with its framework')
      .addOption(
        repeatable('--scenario <name>', 'run only this scenario, after the control approved-once'),
      )
      .option(
        '--markdown [file...]',
        'print a table of Markdown, or put it between the marks of files',
      ),
  ).action(
    inSession(async (session: Session, options: Options) => {
      const drivers = [...options.driver, ...(options.peers === true ? peerDrivers() : [])];
      return drivers.length === 0
        ? listScenarios(session)
        : judgeDrivers(session, drivers, options);
    }),
  );
}

/** @throws CliError `missing_package` */
function peerDrivers(): DriverCommand[] {
  const clone = cloneFolder();
  if (clone === undefined)
    throw new CliError(
      'missing_package',
      'The published package has no drivers of other runtimes. Clone the repository, or pass --driver COMMAND.',
    );
  if (!existsSync(join(clone, 'peers/node_modules')))
    throw new CliError(
      'missing_package',
      'The other runtimes are not installed. Run npm ci --prefix peers in the clone.',
    );
  const folder = join(clone, 'peers/drivers');
  return globSync('*.driver.ts', { cwd: folder })
    .sort()
    .map((file) => [process.execPath, join(folder, file)]);
}

function listScenarios({ json, out }: Session): ExitCode {
  const scenarios = SCENARIOS.map(({ name, title, passes, why }) => ({ name, title, passes, why }));
  if (json) out.document({ scenarios });
  else
    out.table(
      [{ title: 'scenario' }, { title: 'if' }, { title: 'it passes if' }],
      scenarios.map(({ name, title, passes }) => [name, title, passes]),
    );
  return EXIT.ok;
}

/** One report a driver. A driver that cannot run is an error in the table, and ends no other. */
async function judgeDrivers(
  { json, out, progress, interruption }: Session,
  drivers: readonly DriverCommand[],
  { scenario, markdown, peers = false }: Options,
): Promise<ExitCode> {
  // The verdicts take minutes, so a page without marks is refused before.
  const files = Array.isArray(markdown) ? markdown : [];
  for (const file of files) readMarked(file);
  const scenarios = scenario.length > 0 ? scenario : undefined;
  const reports: ConformanceReport[] = [];
  const columns: ConformanceReport[] = [];
  const failed: { readonly command: string; readonly code: string; readonly message: string }[] =
    [];
  for (const driver of drivers) {
    const command = typeof driver === 'string' ? driver : driver.join(' ');
    try {
      const report = await runConformance({
        driver,
        ...(scenarios !== undefined && { scenarios }),
        signal: interruption,
        onVerdict: (verdict) => progress.announce(`${command}: ${verdict.scenario}`),
      });
      reports.push(report);
      columns.push(report);
    } catch (error) {
      if (!isAssizeError(error) || error.code === 'not_found') throw error;
      failed.push({ command, code: error.code, message: error.message });
      columns.push(unjudgedReport({ driver: nameOf(driver), reason: error.message, scenarios }));
    }
  }
  progress.end();
  for (const file of files) putBetweenMarks(file, columns);
  if (json) out.document({ reports, failed });
  else if (markdown === true) await out.piece(conformanceMarkdown(columns));
  else if (files.length === 0) printAll(out, reports, columns);
  for (const { command, message } of failed) note(`${command}: ${message}`);
  return failed.length === 0 && reports.every(isAsWanted(peers)) ? EXIT.ok : EXIT.negative;
}

/** The name of a driver that has not told its own. */
function nameOf(driver: DriverCommand): string {
  return typeof driver === 'string' ? driver : basename(driver.at(-1) ?? driver[0]);
}

/** The marks of the table. */
const MARKED = /(<!-- conformance: begin[^\n]*-->\n)[\s\S]*?(<!-- conformance: end -->)/;

/** The text of a file with the marks. @throws CliError `bad_input` */
function readMarked(file: string): string {
  const text = readText(file);
  if (MARKED.test(text)) return text;
  throw new CliError(
    'bad_input',
    `${file} has no marks. Write <!-- conformance: begin --> and <!-- conformance: end -->, each on a line.`,
  );
}

function putBetweenMarks(file: string, reports: readonly ConformanceReport[]): void {
  const put = (_: string, begin: string, end: string): string =>
    `${begin}\n${conformanceMarkdown(reports)}\n${end}`;
  replaceFile(file, readMarked(file).replace(MARKED, put));
}

/** Of the peers, those without Assize are there to compare. */
function isAsWanted(peers: boolean): (report: ConformanceReport) => boolean {
  return ({ isConforming, versions }) =>
    isConforming || (peers && versions['assize'] === undefined);
}

/** One driver with the reasons of its verdicts, or several side by side. */
function printAll(
  out: Session['out'],
  reports: readonly ConformanceReport[],
  columns: readonly ConformanceReport[],
): void {
  const isAlone = columns.length === 1;
  if (!isAlone) {
    const { verdicts: rows = [] } = columns[0] ?? {};
    const cellIn = ({ verdicts }: ConformanceReport, name: string): Printable => {
      const found = verdicts.find(({ scenario }) => scenario === name);
      return found === undefined ? printable('') : paintedCell(found);
    };
    out.table(
      [{ title: 'scenario' }, ...columns.map(({ driver }) => ({ title: driver }))],
      rows.map(({ scenario }) => [scenario, ...columns.map((column) => cellIn(column, scenario))]),
    );
  }
  for (const { driver, versions, verdicts } of reports) {
    const packages = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
    out.line(line`${bold(driver)} ${dim(packages.join(', '))}`);
    const rows = isAlone ? verdicts : verdicts.filter(({ verdict }) => verdict !== 'pass');
    if (rows.length > 0)
      out.table(
        [{ title: 'scenario' }, { title: 'verdict' }, { title: 'because' }],
        rows.map((row) => [row.scenario, paintedCell(row), row.reasons.join('; ')]),
      );
  }
}

function paintedCell(verdict: ScenarioVerdict): Printable {
  const text = cellOf(verdict);
  if (verdict.verdict === 'pass') return green(text);
  return verdict.verdict === 'n.a.' ? dim(text) : red(text);
}
