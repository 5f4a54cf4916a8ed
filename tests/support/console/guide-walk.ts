import { type GuideStep, stepsOf } from './guide-steps.ts';

/** A step of a guide with commands in a terminal, and with pictures of its pages. */
export type WalkStep =
  | GuideStep
  | { readonly does: 'run'; readonly command: string }
  /** The last command printed these texts in this order. */
  | { readonly does: 'print'; readonly texts: readonly string[] }
  | { readonly does: 'picture'; readonly name: string };

const PART = /^```sh\n(?<command>[\s\S]*?)^```$|^(?<line>.+)$/gm;

/** The numbered lines, the commands, the lines about their output, and the pictures of a guide. */
export function walkOf(guide: string): WalkStep[] {
  return [...guide.matchAll(PART)].flatMap(({ groups = {} }): WalkStep[] => {
    const { command, line = '' } = groups;
    if (command !== undefined) return [{ does: 'run', command }];
    if (/\bprints `/.test(line))
      return [
        { does: 'print', texts: [...line.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text) },
      ];
    const [, name] = /^!\[.*\]\(\.\.\/images\/(.*)\)$/.exec(line) ?? [];
    return name === undefined ? stepsOf(line) : [{ does: 'picture', name }];
  });
}
