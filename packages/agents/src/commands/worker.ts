import {
  type ActingOptions,
  described,
  EXIT,
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
  requireAnchored,
  requireAnchors,
  requireStoreFile,
  type SharedOptions,
  untilStopped,
  withActingOptions,
} from '@assize/command';
import type { Command } from 'commander';
import { type DurableRun, RunWorker } from '#agents';
import { loadAgentsFile, requireUsable } from './agents-file.ts';
import { chatModelOf } from './chat-model.ts';
import { durableAgents, requireOwnNames } from './durable-agents.ts';
import { hasEnded, runStatus, turnLines } from './run-text.ts';

interface Options extends SharedOptions, ActingOptions {
  readonly model?: string;
  readonly textTools?: boolean;
  readonly writ: readonly string[];
  readonly concurrency: number;
  readonly perTenant?: number;
}

const CONCURRENCY = 4;

export function worker(program: Command): void {
  withActingOptions(
    program
      .command('work')
      .description('carry durable runs of agents, beside any number of other workers')
      .argument(
        '<files...>',
        'modules that export agents; the name of a file is the name of its agents in runs',
      )
      .option('--concurrency <n>', 'maximum number of runs in progress here', positive, CONCURRENCY)
      .option(
        '--per-tenant <n>',
        'maximum number of runs of one tenant in progress here (default: the half)',
        positive,
      )
      .option(
        '--model <model>',
        'openai:NAME, openai:NAME@URL or anthropic:NAME; keys come from the environment',
      )
      .option('--text-tools', 'describe actions in the prompt, for servers without tool calls')
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
        '  assize run work desk.ts --model openai:gpt-5 --writ clerk.json\n' +
        '  assize run work desk.ts audits.ts --concurrency 16 --per-tenant 4 --store postgres://db/ledger\n\n' +
        'Runs are recorded by assize run --durable, and listed by assize run list.\n' +
        'Ctrl-C and SIGTERM end the worker after the turns in progress. Other workers continue its runs.',
    )
    .action(
      inSession(async (session, options: Options, files: readonly string[]) => {
        const { interruption, json, out } = session;
        const writs = options.writ.map(readWritFile);
        requireStoreFile(session.storeUrl);
        requireAnchors(session.storeUrl, options.anchors);
        for (const writ of writs) requireAnchored(session.storeUrl, options.anchors, writ);
        const model =
          options.model === undefined
            ? undefined
            : chatModelOf(options.model, options.textTools === true);
        const loaded = await Promise.all(files.map(loadAgentsFile));
        requireOwnNames(loaded);
        for (const file of loaded) requireUsable(file, { model, writs });
        return session.withStore('existing', async (store) => {
          const tools = await loadTools(options.tools);
          const more = loaded.flatMap(({ domain }) => (domain === undefined ? [] : [domain]));
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
          const counts = { advances: 0, done: 0, failed: 0, cancelled: 0 };
          const { concurrency, perTenant } = options;
          const carrying = new RunWorker({
            ...{ store, assize, concurrency, ...(perTenant !== undefined && { perTenant }) },
            agents: loaded.map((file) => durableAgents(file, { model, writs })),
            tools: tools.map(({ name }) => name),
            onTurn: ({ trajectoryId }, turn) => {
              if (!json)
                for (const told of turnLines(turn)) out.line(line`${trajectoryId} ${told}`);
            },
            onAdvance: (run) => {
              counts.advances++;
              if (hasEnded(run)) counts[run.status as 'done' | 'failed' | 'cancelled']++;
              if (!json) out.line(line`${run.trajectoryId} ${runStatus(run)}`);
            },
            onFailure: (error, run) => note(failureText(error, run)),
          });
          if (!json)
            note(
              `Works on runs of ${loaded.length === 1 ? 'one file' : `${loaded.length} files`}.`,
            );
          await untilStopped(assize, tools, interruption, async () => {
            await carrying.run(interruption);
            await assize.close({ recover: false });
          });
          if (json) out.document(counts);
          return EXIT.ok;
        });
      }),
    );
}

function failureText(error: unknown, run: DurableRun | undefined): string {
  const { message } = described(error);
  return run === undefined ? message : `${run.trajectoryId}: ${message}`;
}
