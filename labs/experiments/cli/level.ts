import { EXIT, inSession } from '@assize/command';
import { STRATEGIES, type Strategy } from 'assize/internal/memory';
import { type Command, InvalidArgumentError } from 'commander';
import { levelText, requirementOf, requirementOfPipeline } from '../memory/isolation/index.ts';

export function level(program: Command): void {
  program
    .command('level')
    .description('show the isolation that strategies declare, and that commits enforce')
    .argument(
      '[strategies...]',
      'strategies of one pipeline, in order (default: each alone)',
      strategyIn,
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  assize-experiments level evi await\n\n' +
        'The last row is the requirement of the pipeline: the join of its strategies (TOKI, Theorem 12). No store is needed.',
    )
    .action(
      inSession(({ json, out }, _options: object, strategies: readonly Strategy[]) => {
        const named = strategies.length === 0 ? STRATEGIES : strategies;
        const rows = named.map((strategy) => ({
          strategy: strategy as string,
          ...requirementOf(strategy),
        }));
        const all =
          strategies.length < 2
            ? rows
            : [...rows, { strategy: 'pipeline', ...requirementOfPipeline(strategies) }];
        if (json) out.document({ levels: all });
        else
          out.table(
            [{ title: 'strategy' }, { title: 'declared' }, { title: 'enforced' }],
            all.map(({ strategy, declared, enforced }) => [
              strategy,
              levelText(declared),
              levelText(enforced),
            ]),
          );
        return Promise.resolve(EXIT.ok);
      }),
    );
}

function strategyIn(text: string, before: readonly Strategy[] = []): readonly Strategy[] {
  if (!(STRATEGIES as readonly string[]).includes(text))
    throw new InvalidArgumentError(`Name one of ${STRATEGIES.join(', ')}.`);
  return [...before, text as Strategy];
}
