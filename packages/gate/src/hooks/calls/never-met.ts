import type { Rule, RulesFile, RulesWarning } from '#gateway';
import { commandParts } from './shell-command.ts';

/** The tests of a condition that compare with words of a command. */
const COMPARED = ['is', 'not', 'in', 'not_in', 'any', 'all', 'only'] as const;

/**
 * The conditions on programs that compare with words which no call has in that place. Such words
 * are read as those of a call: `rm -rf` has the flags `--force` and `--recursive`.
 */
export function neverMet({ file, rules, placeOf }: RulesFile): readonly RulesWarning[] {
  return rules.rules.flatMap((rule, i) =>
    (rule.where ?? []).flatMap((condition, n) =>
      COMPARED.flatMap((test) => {
        const place = placeOf(['rules', i, 'where', n, test]);
        return textsIn(condition[test]).flatMap((text) =>
          problemsOf(rule, condition.path, text).map((problem) => ({
            ...{ file, rule: rule.id, ...place, problem },
          })),
        );
      }),
    ),
  );
}

function problemsOf(rule: Rule, path: string, text: string): readonly string[] {
  // A part before the program can stand for what it runs, such as the hooks of `git commit`.
  const read = linesOf(rule, path, text).map((line) =>
    commandParts(line, { cwd: '/' }).flatMap(({ args }) => textsIn(args[path.slice(1)])),
  );
  if (read.length === 0 || read.some((each) => each.includes(text) || each.includes('*')))
    return [];
  const named = [...new Set(read.flat())].filter((each) => each !== '');
  const advice = named.length === 0 ? '' : `; write ${named.join(' and ')}`;
  return [`tests ${path} for ${text}, but no call has that there${advice}`];
}

/** Commands that have a text in that place, if some do. */
function linesOf({ tools, where = [] }: Rule, path: string, text: string): readonly string[] {
  const programs = tools.flatMap((tool) => /^shell\/([\w.-]+)$/.exec(tool)?.[1] ?? []);
  if (programs.length < tools.length) return [];
  const word = `'${text.replaceAll("'", "'\\''")}'`;
  if (path === '/refs') return [`git push origin ${word}`];
  if (path === '/command') return programs.map((each) => `${each} ${text}`);
  if (path !== '/flags') return [];
  const commands = where.flatMap(({ path: of, is, in: listed }) =>
    of === '/command' ? [...textsIn(is), ...textsIn(listed)] : [],
  );
  return programs.flatMap((program) =>
    (commands.length === 0 ? [''] : commands).map((each) => `${program} ${each} ${word}`),
  );
}

function textsIn(value: unknown): readonly string[] {
  return [value].flat().filter((each) => typeof each === 'string');
}
