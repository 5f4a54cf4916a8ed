import type { Command } from 'commander';
import { isAssizeError } from '#base';
import type { GivenAnswer, Trajectory } from '#runtime';
import { CliError } from '../errors.ts';
import {
  anchorsOption,
  domainOption,
  repeatable,
  toolsOption,
  waitOption,
  withSharedOptions,
} from '../files/options.ts';
import { answersTo } from '../render/questions.ts';
import { anchorsPath, readAnchors } from '../store/anchors.ts';
import { inSession } from '../store/session.ts';
import { METHOD, type ResolvingOptions, resolvePending } from './resolution.ts';

interface Options extends ResolvingOptions {
  readonly override?: boolean;
  readonly reason?: string;
  readonly answer: readonly string[];
}

export function approve(program: Command): void {
  withSharedOptions(
    program
      .command('approve')
      .description('commit what waits for a person, exactly as it was put up, as one of the counselors of its domain')
      .argument('<pending>', 'its id, or the first 8 digits of it')
      .requiredOption('--as <principal>', 'who approves; recorded')
      .option('--override', 'also when the result does not pass every invariant; recorded')
      .option('--reason <text>', 'why; recorded')
      .option('--digest <hex>', 'the digest that was looked at (or its first 8 digits): another one is refused')
      .addOption(
        repeatable(
          '--answer <which>',
          'where claims contradict each other, who is believed: N, as assize pending numbers them, or REQUEST=N or REQUEST=CLAIM',
        ),
      )
      .addOption(domainOption)
      .addOption(anchorsOption)
      .addOption(toolsOption)
      .addOption(waitOption),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize approve 1f0c8a77 --as manager:grace\n  assize approve 1f0c8a77 --as dr.grey --answer 2\n\n' +
        'Of requests and claims the first 8 digits do. An answer to what is not asked any more is refused. Where several have to approve,\nthe last of them answers.\n' +
        'What waits with calls of tools needs these: they are made when it is committed.\n' +
        'Negative: it had expired, and is rejected now; or it is committed, and something of what its tools do has not ended:\n' +
        'it says which effects wait for a person.\n' +
        'Where several people have to approve it, each but the last is told under which id it waits for the next one.\n' +
        'Whoever may write the store may approve in anybody’s name: the method is recorded as cli.',
    )
    .action(
      inSession((session, options: Options, pending: string) => {
        const { as: principal, override = false, reason, answer } = options;
        return resolvePending(
          session,
          options,
          pending,
          ['committed', 'escalated'],
          async (trajectory, row, digest) =>
            trajectory.approve(row.id, {
              ...(answer.length > 0 && { answers: await answersIn(trajectory, row.id, answer) }),
              principal,
              method: METHOD,
              override,
              ...(reason === undefined ? {} : { reason }),
              ...digest,
            }),
          () => requireAnchors(session.storeUrl, options.anchors),
        );
      }),
    );
}

/**
 * Parses the typed answers to the open questions. If no question is open any more, the text is
 * passed on unparsed: the runtime reports why the approval is too late, and never reads the text
 * then.
 */
async function answersIn(trajectory: Trajectory, id: string, typed: readonly string[]): Promise<GivenAnswer[]> {
  try {
    return answersTo(await trajectory.questionsOf(id), typed);
  } catch (error) {
    if (!isAssizeError(error, 'not_pending')) throw error;
    return typed.map((text) => ({ request: text, winner: text }));
  }
}

/**
 * Without anchors no writ counts, and the runtime could only report that the proposal is not
 * authorised now.
 */
function requireAnchors(storeUrl: string, file: string | undefined): void {
  if (readAnchors(storeUrl, file).length > 0) return;
  const place = file ?? anchorsPath(storeUrl);
  throw new CliError(
    'usage',
    `No root public keys are known${place === undefined ? '' : `: ${place} is not there or empty`}; name them with --anchors FILE.`,
  );
}
