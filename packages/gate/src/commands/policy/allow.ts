import { readFileSync } from 'node:fs';
import {
  bold,
  CliError,
  EXIT,
  entryNamed,
  inSession,
  line,
  project,
  replaceFile,
  type SharedOptions,
  withSharedOptions,
} from '@assize/command';
import { contentHash } from 'assize/internal/canon';
import { isEffectPending, Replayer } from 'assize/internal/ledger';
import type { Store } from 'assize/internal/stores';
import { readable } from 'assize/internal/views';
import type { Command } from 'commander';
import { type CallArgs, rulesToAllow } from '#gateway';
import { withRules } from '#mining';
import { agreesTo } from '../init/agreement.ts';
import { difference } from '../init/difference.ts';
import { isRulesFile } from '../is-rules-file.ts';
import { rulesFileIn } from '../rules-files.ts';

interface Options extends SharedOptions {
  readonly yes?: boolean;
}

export function allow(command: Command): void {
  withSharedOptions(
    command
      .command('allow')
      .description('write the rule that lets the call of a question through from now on')
      .argument('<pending>', 'id of the question, or its first 8 digits; or TRAJECTORY@SEQ')
      .option('--yes', 'write without a question'),
  )
    .addHelpText(
      'after',
      '\nThe rule is the narrowest one: the same program with the same arguments in the same folder, the same file, the same host.\n' +
        'It goes to the rules file of the configuration. The question itself stays open: answer it, or let the agent ask again.',
    )
    .action(
      inSession(async (session, { yes }: Options, pending: string) => {
        const file = project()?.policyFile;
        if (file === undefined || !isRulesFile(file))
          throw new CliError(
            'usage',
            'The configuration names no rules file. Add policy: ./assize.yaml to it, or pass --config.',
          );
        const call = await session.withStore('readonly', (store) => callOf(store, pending));
        const found = rulesToAllow(rulesFileIn(file).rules, call);
        if ('problem' in found)
          throw new CliError('usage', `No rule that is added answers it: ${found.problem}.`);
        const before = readFileSync(file, 'utf8');
        const rules = found.rules.map((rule) => ({
          list: 'rules' as const,
          value: { id: `always-${contentHash(rule).slice(0, 12)}`, ...rule },
          isExact: true,
        }));
        const after = withRules(before, rules, file);
        const changes = [{ path: file, lines: difference(before, after) }];
        if (!(await agreesTo(session, { yes, changes }))) return EXIT.negative;
        replaceFile(file, after);
        if (session.json) session.out.document({ file, rules: rules.map(({ value }) => value) });
        else {
          session.out.line(bold('Next'));
          session.out.line(line`  Start the server again: it reads ${file} when it starts.`);
        }
        return EXIT.ok;
      }),
    );
}

/** The call of a question, in the role of its agent. @throws CliError `not_found` */
async function callOf(
  store: Store,
  text: string,
): Promise<{ readonly agent: string; readonly args: CallArgs }> {
  const payload = readable(await entryNamed(store, text))?.payload;
  if (payload?.kind === 'pending_approval' && !isEffectPending(payload)) {
    const { name, role, args } = payload.proposal.action;
    const read = await new Replayer(store).values.read(payload, args);
    const agent = role.params['agent'];
    if (name === 'call' && typeof agent === 'string' && 'value' in read)
      return { agent, args: read.value as unknown as CallArgs };
  }
  throw new CliError(
    'not_found',
    `${text} is not a question about a call of a tool. List the questions with assize pending.`,
  );
}
