import {
  EXIT,
  type ExitCode,
  inSession,
  line,
  type OpeningOptions,
  project,
  red,
  type Session,
  type SharedOptions,
  withAssize,
  withSharedOptions,
} from '@assize/command';
import {
  AGENTS,
  type AgentChange,
  type AgentsState,
  agentsDomain,
  changeAgent,
  GrantIssuer,
  rootKeyOf,
} from 'assize/internal/config';
import { systemClock } from 'assize/internal/oracle';
import type { Store } from 'assize/internal/stores';
import { shortTime } from 'assize/internal/views';
import { type Command, Option } from 'commander';
import { credentialsOf } from '../principals/credentials.ts';

interface Options extends SharedOptions, OpeningOptions {
  readonly reason: string;
  readonly principal: string;
}

const ABOUT = {
  stop: 'stop an agent for good: its grants, tokens and delegations in every trajectory',
  pause: 'hold all work of an agent until it is resumed',
  resume: 'end a pause; or ask another person to approve that a stopped agent comes back',
} as const;

export function agents(program: Command): void {
  const command = program
    .command('agents')
    .description('stop and pause agents, and bring them back');
  withSharedOptions(
    command.command('list').description('list the agents that are stopped or paused'),
  ).action(
    inSession((session, options: Options) =>
      session.withStore('existing', (store) => list(session, store, options)),
    ),
  );
  for (const does of ['stop', 'pause', 'resume'] as const)
    withSharedOptions(
      command
        .command(does)
        .description(ABOUT[does])
        .argument('<agent>', 'name of the agent, such as agent:scout')
        .requiredOption('--reason <text>', 'reason; stays in the ledger')
        .addOption(
          new Option('--principal <name>', 'principal that makes the change').default('operator'),
        ),
    )
      .addHelpText(
        'after',
        (does === 'pause'
          ? 'The agent reports the outcome of a call in flight after the resume.\n'
          : '') +
          'Negative: the change was refused or waits for a person, or a trajectory was not reached.',
      )
      .action(
        inSession((session, options: Options, agent: string) =>
          change(session, options, does, agent),
        ),
      );
}

async function list(
  { json, out, storeUrl }: Session,
  store: Store,
  options: Options,
): Promise<ExitCode> {
  const { agents } = await withAssize(store, storeUrl, options, async (assize) =>
    (await assize.trajectories()).some(({ trajectory_id }) => trajectory_id === AGENTS)
      ? ((await assize.open(AGENTS, agentsDomain())).state() as unknown as AgentsState)
      : { agents: {} },
  );
  const stopped = Object.entries(agents).filter(([, { is }]) => is !== 'restored');
  if (json) out.document({ agents: stopped.map(([name, one]) => ({ name, ...one })) });
  else
    out.table(
      [
        { title: 'agent' },
        { title: 'is' },
        { title: 'since' },
        { title: 'by' },
        { title: 'reason' },
      ],
      stopped.map(([name, { is, at, by, reason }]) => [name, is, shortTime(at), by, reason]),
    );
  return EXIT.ok;
}

function change(
  session: Session,
  options: Options,
  does: AgentChange['does'],
  agent: string,
): Promise<ExitCode> {
  const { storeUrl, json, out } = session;
  return session.withStore('existing', async (store) => {
    const root = rootKeyOf(storeUrl);
    const issuer = new GrantIssuer(root, store, { principals: project()?.principals ?? new Map() });
    const failed: string[] = [];
    const onFailure = (error: unknown): void => void failed.push((error as Error).message);
    const ruling = await withAssize(store, storeUrl, options, (assize) => {
      const { reason, principal: by } = options;
      return changeAgent(
        issuer,
        { does, agent, by, reason },
        { store, assize, now: systemClock.now(), onFailure },
      );
    });
    const tokens = does === 'stop' ? await credentialsOf(store, root).tokens.revokeOf(agent) : 0;
    const entry =
      ruling.ruling === 'frozen' ? {} : { entry_id: ruling.entry.id, seq: ruling.entry.seq };
    if (json) out.document({ agent, does, ruling: ruling.ruling, ...entry, tokens, failed });
    else {
      const why = ruling.ruling === 'committed' ? '' : line`: ${ruling.detail}`;
      out.line(line`${ruling.ruling}: ${does} ${agent}${why}`);
      for (const text of failed) out.line(line`  ${red('not reached')}: ${text}`);
    }
    return ruling.ruling === 'committed' && failed.length === 0 ? EXIT.ok : EXIT.negative;
  });
}
