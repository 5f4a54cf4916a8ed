import {
  type ActingOptions,
  CliError,
  described,
  EXIT,
  type ExitCode,
  Interrupted,
  inSession,
  line,
  loadTools,
  note,
  openAssize,
  positive,
  readRecoveryKey,
  readWritFile,
  repeatable,
  reportingWaits,
  requireAnchors,
  type Session,
  type SharedOptions,
  untilStopped,
  whenEffectsFree,
  withActingOptions,
} from '@assize/command';
import { isInstance } from 'assize/internal/base';
import type { Tool } from 'assize/internal/effects';
import { createOracle, systemClock } from 'assize/internal/oracle';
import type { Assize, Trajectory } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import { counted, shortId } from 'assize/internal/views';
import type { Command } from 'commander';
import { type DurableAgents, type RunReport, RunWorker, runAgents } from '#agents';
import { type AgentsFile, agentsOf, loadAgentsFile } from './agents-file.ts';
import { chatModelOf } from './chat-model.ts';
import { durableAgents } from './durable-agents.ts';
import { hasEnded, runDocument, runStatus, turnDocument, turnLines } from './run-text.ts';
import { runs } from './runs.ts';
import { worker } from './worker.ts';

interface Options extends SharedOptions, ActingOptions {
  readonly trajectory?: string;
  readonly model?: string;
  readonly textTools?: boolean;
  readonly turns: number;
  readonly writ: readonly string[];
  readonly durable?: boolean;
  readonly detach?: boolean;
  readonly tenant?: string;
}

const TURNS = 100;

export function run(program: Command): void {
  const command = program.command('run');
  runs(command);
  worker(command);
  withActingOptions(
    command
      .description(
        'run agents until all are done, with a model if they need one; or manage durable runs',
      )
      .argument('<file>', 'module that exports agents, and may export domain and trajectory')
      .option(
        '--trajectory <id>',
        'trajectory of the run; created if it does not exist (default: that of the file)',
      )
      .option(
        '--model <model>',
        'openai:NAME, openai:NAME@URL or anthropic:NAME; keys come from the environment',
      )
      .option('--text-tools', 'describe actions in the prompt, for servers without tool calls')
      .option('--turns <n>', 'maximum number of turns', positive, TURNS)
      .option(
        '--durable',
        'record the run, so that a worker continues it after the end of this process',
      )
      .option('--detach', 'with --durable: record the run, and leave it to assize run work')
      .option(
        '--tenant <name>',
        'with --durable: party whose runs share a limit and a turn (default: default)',
      )
      .addOption(
        repeatable(
          '--writ <file>',
          'writ of the agent that is its subject, for agents without a writ',
        ),
      ),
  )
    .addHelpText(
      'after',
      '\nExamples:\n' +
        '  assize run desk.ts --model openai:gpt-5 --writ clerk.json\n' +
        '  assize run desk.ts --model openai:llama3@http://127.0.0.1:11434/v1 --writ clerk.json --turns 20\n' +
        '  assize run desk.ts --durable --trajectory claim-17\n\n' +
        'Keys: OPENAI_API_KEY and ANTHROPIC_API_KEY for these providers, ASSIZE_MODEL_KEY for any server.\n' +
        'A second run goes on where the first one ended, and asks nothing that was answered.\n' +
        'A run of a trajectory that does not exist creates it, and says so.\n' +
        'With --durable the command waits for decisions and times, until the run has ended.\n' +
        'Negative: agents wait for a change or for a decision, or the turns are used up.\n' +
        'With --durable: the run has failed, or was cancelled.',
    )
    .action(
      inSession(async (session, options: Options, file: string) => {
        checkDurable(options);
        const writs = options.writ.map(readWritFile);
        requireAnchors(session.storeUrl, options.anchors);
        const model =
          options.model === undefined
            ? undefined
            : chatModelOf(options.model, options.textTools === true);
        const loaded = await loadAgentsFile(file);
        return session.withStore('create', async (store) => {
          const { interruption } = session;
          const tools = await loadTools(options.tools);
          const more = loaded.domain === undefined ? [] : [loaded.domain];
          const recovery = readRecoveryKey(options.recoveryKey);
          const watched = reportingWaits(store, options.wait);
          const assize = await openAssize(
            watched,
            session.storeUrl,
            options,
            tools,
            recovery,
            more,
          );
          return await untilStopped(assize, tools, interruption, async () => {
            const { trajectory, isNew } = await trajectoryOf(assize, store, loaded, options);
            if (isNew && !session.json)
              session.out.line(line`Began the trajectory ${trajectory.id}.`);
            if (tools.length > 0) {
              await whenEffectsFree(interruption, options.wait, (signal) =>
                assize.recoverEffects(signal),
              );
              interruption.throwIfAborted();
            }
            if (options.durable === true) {
              // The worker opens the trajectory when it takes the run.
              assize.release(trajectory.id);
              const agents = durableAgents(loaded, { model, writs });
              return await durably(
                session,
                { ...options, trajectory: trajectory.id, isNew },
                { store, assize, tools, agents },
              );
            }
            const given = { model, domain: trajectory.domain, writs, signal: interruption };
            const agents = await agentsOf(loaded, given);
            const turns: object[] = [];
            const report = await runAgents(trajectory, agents, {
              oracle: createOracle({ store, clock: systemClock, mode: 'record' }),
              maxTurns: options.turns,
              signal: interruption,
              onTurn: (done) => {
                if (session.json) turns.push(turnDocument(done));
                else for (const told of turnLines(done)) session.out.line(told);
              },
            });
            if (report.ended === 'aborted') throw interruption.reason;
            // The buffered effects run before this returns.
            await assize.close();
            return say(session, { trajectoryId: trajectory.id, isNew }, report, turns);
          }).catch((error: unknown) => {
            if (isInstance(error, Interrupted))
              throw new Interrupted(error.signal, true, 'the next run goes on');
            throw error;
          });
        });
      }),
    );
}

/** @throws CliError `usage` */
function checkDurable({ durable, detach, tenant }: Options): void {
  if (durable === true) return;
  const option = detach === true ? '--detach' : tenant === undefined ? undefined : '--tenant';
  if (option !== undefined)
    throw new CliError('usage', `The option ${option} is for durable runs. Pass --durable too.`);
}

interface Parts {
  readonly store: Store;
  readonly assize: Assize;
  readonly tools: readonly Tool[];
  readonly agents: DurableAgents;
}

/** Records the run, and carries it until it has ended, here or by another worker. */
async function durably(
  session: Session,
  {
    trajectory,
    isNew,
    tenant,
    turns: turnsMax,
    detach,
  }: Options & { readonly trajectory: string; readonly isNew: boolean },
  { tools, ...parts }: Parts,
): Promise<ExitCode> {
  const { interruption, json, out } = session;
  const turns: object[] = [];
  const worker = new RunWorker({
    ...{ ...parts, agents: [parts.agents], tools: tools.map(({ name }) => name) },
    onTurn: (_run, done) => {
      if (json) turns.push(turnDocument(done));
      else for (const told of turnLines(done)) out.line(told);
    },
    onFailure: (error) => note(described(error).message),
    onAdvance: (run) => {
      if (!json && !hasEnded(run)) out.line(line`${trajectory} ${runStatus(run)}`);
    },
  });
  const terms = { trajectoryId: trajectory, agents: parts.agents.name, turnsMax };
  const begun = await worker.records.begin({ ...terms, ...(tenant !== undefined && { tenant }) });
  const run = detach === true ? begun : await worker.runOne(trajectory, interruption);
  if (run === undefined) throw interruption.reason;
  // The buffered effects run before this returns.
  await parts.assize.close();
  if (json) out.document({ ...runDocument(run), new_trajectory: isNew, rulings: turns });
  else out.line(line`${trajectory} ${runStatus(run)}, after ${counted(run.turns, 'turn')}.`);
  return run.status === 'failed' || run.status === 'cancelled' ? EXIT.negative : EXIT.ok;
}

/** The trajectory of the run. A new one starts in the initial state of the file's domain. */
async function trajectoryOf(
  assize: Assize,
  store: Store,
  { path, domain, trajectory }: AgentsFile,
  options: Options,
): Promise<{ readonly trajectory: Trajectory; readonly isNew: boolean }> {
  const id = options.trajectory ?? trajectory;
  if (id === undefined)
    throw new CliError(
      'usage',
      `The file ${path} names no trajectory. Export trajectory, or pass --trajectory ID.`,
    );
  if ((await store.head(id)) !== undefined)
    return {
      trajectory: await (domain === undefined ? assize.open(id) : assize.open(id, domain)),
      isNew: false,
    };
  if (domain !== undefined)
    return { trajectory: await assize.create(domain, { trajectoryId: id }), isNew: true };
  throw new CliError(
    'not_found',
    `The store has no trajectory ${id}, and ${path} exports no domain to create it.`,
  );
}

const ENDS: Readonly<Record<Exclude<RunReport['ended'], 'aborted'>, string>> = {
  done: 'All agents are done',
  waiting: 'The agents wait for a change',
  pending: 'A pending proposal stops the agents; decide with assize approve or assize reject',
  turns: 'The turns are used up; the next run goes on',
};

function say(
  { json, out }: Session,
  { trajectoryId, isNew }: { readonly trajectoryId: string; readonly isNew: boolean },
  { ended, turns: count, head }: RunReport,
  turns: readonly object[],
): ExitCode {
  const place = { trajectory_id: trajectoryId, new_trajectory: isNew };
  if (json) out.document({ ...place, ended, turns: count, head, rulings: turns });
  else
    out.line(
      line`${ENDS[ended as keyof typeof ENDS]}. ${trajectoryId} has ${counted(count, 'turn')}, head ${shortId(head)}.`,
    );
  return ended === 'done' ? EXIT.ok : EXIT.negative;
}
