import type { Json } from 'assize/internal/base';
import { flowText } from '../rules/flow-text.ts';
import type { ToolClass } from '../rules/rules.ts';
import { readHostPattern } from './host-name.ts';
import { isUnder, PROJECT } from './path-name.ts';
import { isCheck, isRunner } from './runners.ts';
import { isSecret } from './secrets.ts';

/** A part of a call. */
interface Part {
  readonly tool: string;
  readonly args: Json;
  readonly reaches?: readonly string[];
}

/** A written rule, as a person adds it to a rules file. */
export type AnsweringRule = {
  readonly allow: string;
  readonly class?: ToolClass;
  readonly path?: string | readonly string[];
  readonly host?: string;
  readonly where?: readonly { readonly path: string; readonly is: Json }[];
};

/**
 * The narrowest rule that would let a part of a call through that no rule is about: a program with
 * exactly these arguments in this folder, exactly this file, this host. Undefined: no rule can.
 */
export function answeringRule({ tool, args }: Part): AnsweringRule | undefined {
  const { argv, env, paths = [], cwd, path, url } = args as { readonly [name: string]: Json };
  if (Array.isArray(argv)) {
    const places = placesOf(paths as readonly string[], cwd);
    return {
      allow: tool,
      ...(places.length > 0 && { path: places.length === 1 ? (places[0] as string) : places }),
      where: [
        { path: '/argv', is: argv },
        ...(env === undefined ? [] : [{ path: '/env', is: env }]),
      ],
    };
  }
  if (typeof path === 'string') return { allow: tool, path };
  const host = typeof url === 'string' ? URL.parse(url)?.host : undefined;
  const isNamed = host !== undefined && 'value' in readHostPattern(host);
  return isNamed ? { allow: tool, host } : undefined;
}

/**
 * The rule to propose for uses like this one: any use of the tool or of the subcommand in the
 * project that is not irreversible, or else the narrowest. None for agents, secrets, what files say
 * unless the words say that it tests or builds, and irreversible uses unless `isApproved`.
 * `isGuarded`: other rules keep the secrets of the project, so a folder can be free.
 */
export function likeRule(
  part: Part,
  toolClass: ToolClass,
  project: string,
  { isApproved, isGuarded }: { readonly isApproved: boolean; readonly isGuarded: boolean },
): AnsweringRule | undefined {
  const { tool, args, reaches = [] } = part;
  const {
    argv,
    env,
    command = '',
    below,
    paths = [],
    path = [],
  } = args as {
    readonly [name: string]: Json;
  };
  const words = Array.isArray(argv) ? [tool.replace(/^shell\//, ''), ...argv.map(String)] : [];
  const isTest = isCheck(words);
  const isFree = isTest || toolClass !== 'irreversible' || isApproved;
  const isBounded = isGuarded || (below === undefined && tool !== 'files/search');
  const places = [paths, path, reaches].flat().map(String);
  const isKept = OWN.test(tool) || places.some(isSecret) || (isRunner(words[0]) && !isTest);
  if (!isFree || !isBounded || isKept) return undefined;
  const narrow = answeringRule(part) ?? (NAMELESS.test(tool) ? undefined : { allow: tool });
  const tops = [narrow?.path ?? []].flat();
  const isHere = project !== '/' && tops.length > 0 && tops.every((top) => isUnder(top, project));
  // Other words of an irreversible use can run something else.
  if (!isHere || !isGuarded || toolClass === 'irreversible') return narrow;
  const where = [
    ...(command === '' ? [] : [{ path: '/command', is: command }]),
    ...(env === undefined ? [] : [{ path: '/env', is: env }]),
  ];
  return { allow: tool, class: toolClass, path: PROJECT, ...(where.length > 0 && { where }) };
}

/** Programs of the agents and of Assize. */
const OWN = /^shell\/(?:assize|claude|codex)$/;
/** Tools whose name does not say what a use does. */
const NAMELESS = /^shell\/|\/settings$/;

/** The folder of the call, if paths are below it, and the paths that are not. */
function placesOf(paths: readonly string[], cwd: Json | undefined): readonly string[] {
  if (typeof cwd !== 'string') return paths;
  const outside = paths.filter((path) => !isUnder(path, cwd));
  return outside.length === paths.length ? outside : [cwd, ...outside];
}

const SHOWN_MAX = 200;

/** Why no rule lets a part through: the part as its agent wrote it, and the rule that would. */
export function unansweredText(part: Part): string {
  const rule = answeringRule(part);
  const text = rule === undefined ? '' : flowText(rule).replace(/\] (?=[\]}])/g, ']');
  const isShown = text !== '' && text.length <= SHOWN_MAX && text === withoutIds(text);
  return `no rule applies to ${partText(part)}${isShown ? `; this one would: ${text}` : ''}`;
}

/** Uses of git that ask for a message, and whose words are known. */
const OPENS_EDITOR = /^git (?:-C \S+ )?(?:merge|pull|revert)\b(?!.*--(?:no-)?edit)[^$`*?]*$/;

/** Why a tool that neither the rules nor a pin know asks. */
export function unknownText(part: Part): string {
  const { text = '' } = part.args as { readonly text?: string };
  const more = OPENS_EDITOR.test(text) ? '; --no-edit keeps git from opening an editor' : '';
  return part.tool.startsWith('shell/')
    ? `what ${partText(part)} does is known only when it runs${more}`
    : 'neither the rules nor a pin know the tool';
}

/** A part as a person reads it: `rg --pre x` in backticks, or `files/edit /repo/a.ts`. */
export function partText({ tool, args }: Part): string {
  const { argv, text, path, url, query } = args as { readonly [name: string]: Json };
  const words = Array.isArray(argv) ? [tool.replace(/^shell\//, ''), ...argv] : [text ?? tool];
  const named = [...words, path, url, query].filter((word) => word !== undefined);
  const shown = named.join(' ').replace(/\s+/g, ' ');
  const cut = shown.length <= SHOWN_MAX ? shown : `${shown.slice(0, SHOWN_MAX)}…`;
  return `\`${withoutIds(cut).toWellFormed()}\``;
}

/** A reason names rules as `[id] why`. The words of an agent never do. */
function withoutIds(text: string): string {
  return text.replaceAll('] ', ']');
}
