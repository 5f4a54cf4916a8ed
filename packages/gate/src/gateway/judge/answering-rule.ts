import type { Json } from 'assize/internal/base';
import { flowText } from '../rules/flow-text.ts';
import { isUnder } from './path-name.ts';

/** A part of a call. */
interface Part {
  readonly tool: string;
  readonly args: Json;
}

/** A written rule, as a person adds it to a rules file. */
export interface AnsweringRule {
  readonly allow: string;
  readonly path?: string | readonly string[];
  readonly host?: string;
  readonly where?: readonly { readonly path: string; readonly is: Json }[];
}

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
  return host === undefined || host === '' ? undefined : { allow: tool, host };
}

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
  const text =
    rule === undefined ? '' : flowText(rule as unknown as Json).replace(/\] (?=[\]}])/g, ']');
  const isShown = text !== '' && text.length <= SHOWN_MAX && text === withoutIds(text);
  return `no rule applies to ${partText(part)}${isShown ? `; this one would: ${text}` : ''}`;
}

/** Why a tool that neither the rules nor a pin know asks. */
export function unknownText(part: Part): string {
  return part.tool.startsWith('shell/')
    ? `what ${partText(part)} does is known only when it runs`
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
