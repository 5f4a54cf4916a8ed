import {
  actingWrit,
  anchoredRoot,
  CliError,
  type ExitCode,
  ephemeralWrit,
  headOf,
  inSession,
  line,
  newNonce,
  note,
  type OpeningOptions,
  positive,
  printRuling,
  repeatable,
  requireLocal,
  SERVED,
  type Session,
  type SharedOptions,
  withAssize,
  withOpeningOptions,
} from '@assize/command';
import type { WritChain } from 'assize/host';
import { isAssizeError } from 'assize/internal/base';
import { addMicros, type Instant, parseInstant } from 'assize/internal/canon';
import { systemClock } from 'assize/internal/oracle';
import type { Assize, Ruling, Trajectory } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import { shortId } from 'assize/internal/views';
import { type Command, InvalidArgumentError } from 'commander';
import { type GatewayState, type UncoveredTerm, uncoveredTerms } from '#gateway';
import { gatewayTrajectory } from '../open-calls.ts';
import { requirePerson } from '../require-person.ts';

interface GrantOptions extends SharedOptions, OpeningOptions {
  readonly agent: string;
  readonly tools: readonly string[];
  readonly uses: number;
  readonly amount: readonly string[];
  readonly until: string;
  readonly because: string;
  readonly id?: string;
  readonly as?: string;
}

export function grant(command: Command): void {
  withOpeningOptions(
    command
      .command('grant')
      .description('ask for a standing approval; a counselor then approves it')
      .argument('<trajectory>', 'trajectory of the agent’s calls')
      .requiredOption('--agent <name>', 'the agent whose calls it covers, without agent:')
      .addOption(
        repeatable(
          '--tools <pattern>',
          'tools that it covers: server/tool, server/* or server/get_*',
        ),
      )
      .requiredOption('--uses <n>', 'the most calls', positive)
      .addOption(repeatable('--amount <unit=n>', 'the most that all calls together may spend'))
      .requiredOption('--until <end>', `its end: ${UNTIL_HELP}`, untilOf)
      .requiredOption('--because <text>', 'the reason; recorded', reason)
      .option('--id <id>', 'its id: lower-case letters, digits and - (default: a new one)')
      .option(
        '--as <principal>',
        'the person who asks, and cannot approve it; recorded (default: the agent itself)',
      ),
  )
    .addHelpText(
      'after',
      '\nExamples:\n' +
        '  assize standing grant calls --agent scout --tools bank/pay --uses 10 --amount cents=50000 --until today --because "May invoices"\n' +
        '  assize standing grant calls --agent scout --tools "files/*" --uses 40 --until 2h --because "the move" --as manager:grace\n\n' +
        'Nothing is covered before a counselor approves it with assize approve. The principal that asks cannot approve.\n' +
        'A call that spends a unit without an --amount is never covered. The rules have the most of each term.\n' +
        'Negative: the standing approval waits for its approval, or is rejected.\n' +
        'A process that can read the root key can ask under any name.',
    )
    .action(
      inSession((session, options: GrantOptions, trajectoryId: string) => {
        requireLocal(session.storeUrl, SERVED);
        const amounts = amountsOf(options.amount);
        if (options.agent.startsWith('agent:'))
          throw new CliError(
            'usage',
            `Agents are named without agent: here. Pass --agent ${options.agent.slice('agent:'.length)}.`,
          );
        if (options.tools.length === 0)
          throw new CliError(
            'usage',
            'A standing approval names its tools. Pass --tools SERVER/TOOL or --tools "SERVER/*".',
          );
        return session.withStore('existing', async (store) => {
          const root = anchoredRoot(session.storeUrl);
          const name = await gatewayTrajectory(store, trajectoryId);
          const {
            agent,
            tools,
            uses,
            until: expires,
            because,
            id = newNonce().slice(0, 12),
          } = options;
          const ruling = await withAssize(store, session.storeUrl, options, async (assize) => {
            const trajectory = await assize.open(name);
            const uncovered = uncoveredTerms(trajectory.state() as unknown as GatewayState, {
              tools,
              amounts,
            });
            for (const term of uncovered) note(uncoveredText(term));
            const args = { id, agent, tools, uses, amounts, expires, because };
            const asking = await askingAs(options, { store, assize, trajectory }, root);
            return trajectory.propose({ action: 'stand', args, ...asking } as never);
          });
          return say(session, ruling, id);
        });
      }),
    );
}

/** The trajectory of the calls, as the command has opened it. */
interface OpenedTrajectory {
  readonly store: Store;
  readonly assize: Assize;
  readonly trajectory: Trajectory;
}

/** By whom, in which role and under which writ the request is proposed. */
interface Asking {
  readonly role: { readonly name: string; readonly params: Readonly<Record<string, string>> };
  readonly writ: WritChain | object;
  readonly principal: string;
}

/** The agent itself under its own grant, or a person as an administrator of the domain. */
async function askingAs(
  { as, agent }: GrantOptions,
  opened: OpenedTrajectory,
  root: ReturnType<typeof anchoredRoot>,
): Promise<Asking> {
  const own = `agent:${agent}`;
  if (as === undefined || as === own) {
    const writ = await actingWrit(root, opened, { agent: own, action: 'stand', tools: [] });
    return { role: { name: 'agent', params: { agent } }, writ, principal: own };
  }
  const { store, trajectory } = opened;
  requirePerson(trajectory.domain, as, 'stand', 'ask for a standing approval');
  const head = await headOf(store, trajectory.id);
  const writ = ephemeralWrit(
    head,
    { action: 'stand', scopes: ['role:admin'], principal: as },
    root,
  );
  return { role: { name: 'admin', params: {} }, writ, principal: as };
}

/** @throws CliError `usage` */
function amountsOf(given: readonly string[]): Readonly<Record<string, number>> {
  const amounts = new Map<string, number>();
  for (const text of given) {
    const [, unit = '', digits] = /^([a-z][a-z0-9_]{0,31})=(\d{1,15})$/.exec(text) ?? [];
    if (digits === undefined)
      throw new CliError('usage', `The amount ${text} is not UNIT=NUMBER, such as cents=50000.`);
    if (amounts.has(unit))
      throw new CliError('usage', `The amount of ${unit} is given twice. Pass it once.`);
    amounts.set(unit, Number(digits));
  }
  return Object.fromEntries(amounts);
}

/** A remark about terms that let no call through. */
function uncoveredText({ tools, tool, unit }: UncoveredTerm): string {
  if (tools !== undefined)
    return `The rules know no tool ${tools}, and an unknown tool is never covered.`;
  return `Calls of ${tool} spend ${unit}. Without --amount ${unit}=N, none of them is covered.`;
}

/** As for the action `stand`. */
const REASON_MAX = 2_000;

function reason(text: string): string {
  if (text.trim() !== '' && text.length <= REASON_MAX) return text;
  throw new InvalidArgumentError(
    `It must have 1 to ${REASON_MAX.toLocaleString('en')} characters.`,
  );
}

function say(session: Session, ruling: Ruling, id: string): ExitCode {
  const exitCode = printRuling(session, ruling, { standing: id });
  const { json, out, again } = session;
  if (!json && ruling.ruling === 'escalated')
    out.line(
      line`The standing approval ${id} counts when a counselor approves it: assize approve ${shortId(ruling.pending)} --as PRINCIPAL${again}`,
    );
  return exitCode;
}

const MICROS = { m: 60_000_000, h: 3_600_000_000 } as const;

/** For the help of commands that take an end. */
const UNTIL_HELP =
  'an instant, `90m`, `2h`, or `today`: until the end of the day in the local time zone';

/** The end that a text names, from now on. */
export function untilOf(text: string): Instant {
  if (text === 'today') return endOfToday(systemClock.now());
  const [, digits = '', unit] = /^(\d{1,6})([mh])$/.exec(text) ?? [];
  if (unit !== undefined)
    return addMicros(systemClock.now(), Number(digits) * MICROS[unit as keyof typeof MICROS]);
  try {
    return parseInstant(text);
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    throw new InvalidArgumentError(
      'It must be an instant such as 2026-03-01T18:00:00Z, 90m, 2h, or today.',
    );
  }
}

/** The start of the next day in the local time zone. */
function endOfToday(now: Instant): Instant {
  const day = new Date(now);
  return parseInstant(new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1).toISOString());
}
