import {
  CliError,
  dim,
  EXIT,
  green,
  inSession,
  line,
  red,
  type StorelessOptions,
  withoutStore,
} from '@assize/command';
import { openStore } from 'assize/internal/stores';
import { counted } from 'assize/internal/views';
import type { Command } from 'commander';
import { runCases, type StepResult } from '#gateway';
import { isRulesFile } from '../is-rules-file.ts';
import { casesBeside, rulesFileIn } from '../rules-files.ts';

export function testPolicy(command: Command): void {
  withoutStore(
    command
      .command('test')
      .description('run the cases of a rules file through the gateway domain')
      .argument('<file>', 'rules file such as assize.yaml'),
  )
    .addHelpText(
      'after',
      '\nThe cases are under `cases` in the file, and in FILE.cases.yaml beside it. No tool is called.\n' +
        'Negative: a ruling is not the expected one.',
    )
    .action(
      inSession(async ({ json, out }, _options: StorelessOptions, path: string) => {
        if (!isRulesFile(path))
          throw new CliError(
            'usage',
            `${path} is not a rules file. Pass a file such as assize.yaml.`,
          );
        const file = rulesFileIn(path);
        const beside = casesBeside(path);
        const count = file.cases.length + beside.length;
        if (count === 0)
          throw new CliError(
            'bad_input',
            `${path} has no cases. Write them under cases, or in a file beside it.`,
          );
        const store = await openStore('memory:');
        const steps = await runCases(file, { store }, beside).finally(() => store.close());
        const failed = steps.filter(({ ok }) => !ok).length;
        if (json) out.document({ rules: file.rules.id, cases: count, steps, failed });
        else {
          out.table(
            [
              { title: 'case' },
              { title: 'step' },
              { title: 'call' },
              { title: 'expected' },
              { title: 'was' },
              { title: 'why' },
            ],
            steps.map(rowOf),
          );
          out.line(line``);
          const words = `${counted(count, 'case')}, ${counted(steps.length, 'step')}`;
          out.line(
            failed === 0
              ? green(`${words}: all as expected.`)
              : red(`${words}: ${failed} not as expected.`),
          );
        }
        return failed === 0 ? EXIT.ok : EXIT.negative;
      }),
    );
}

function rowOf({ case: name, file, line: at, step, call, expected, was, ok, detail }: StepResult) {
  const place = step === 1 ? `${name} (${file}:${at})` : dim(name);
  return [place, String(step), call, expected, ok ? green(was) : red(was), detail];
}
