import type { Json } from 'assize/internal/base';
import { CLASSES, type ToolClass, type ToolSpec } from '../rules/rules.ts';
import { agentToolClass } from './agent-tools.ts';

/**
 * The tools that every rules file knows without listing them: parts of calls, in words that all
 * agents share. A file may add members to one of them under `tools`.
 */
const BUILT_IN_TOOLS: Readonly<Record<string, Omit<ToolSpec, 'name'>>> = {
  'files/read': { class: 'read', reads: ['/path'] },
  'files/search': { class: 'read', reads: ['/path'] },
  'files/write': { class: 'reversible', writes: ['/path'] },
  'files/edit': { class: 'reversible', writes: ['/path'] },
  'shell/read': { class: 'read', reads: ['/path'] },
  'shell/write': { class: 'reversible', writes: ['/path'] },
  'web/fetch': { class: 'read', hosts: ['/url'] },
  'web/search': { class: 'read' },
};

/**
 * Parts of a command that cannot be known before it runs. They ask like an unknown tool, but not in
 * a sandbox.
 */
const UNKNOWN_PARTS: ReadonlySet<string> = new Set([
  'shell/dynamic',
  'shell/unparsed',
  'shell/file',
]);

/**
 * The built-in tool of a name. Every literal name of a program is a tool of `shell`. A part says in
 * its arguments to which class this use of the program belongs.
 */
export function builtInTool(name: string, args: Json = null): ToolSpec | undefined {
  const known = Object.hasOwn(BUILT_IN_TOOLS, name) ? BUILT_IN_TOOLS[name] : undefined;
  if (known !== undefined) return { name, ...known };
  const ofAgent = agentToolClass(name);
  if (ofAgent !== undefined) return { name, class: ofAgent };
  if (!name.startsWith('shell/')) return undefined;
  const { class: given, sandboxed } = (args ?? {}) as { readonly [name: string]: Json };
  if (UNKNOWN_PARTS.has(name) && sandboxed !== true) return undefined;
  const toolClass: ToolClass = CLASSES.find((each) => each === given) ?? 'irreversible';
  return { name, class: toolClass, reads: ['/paths'] };
}

/** Whether hooks make calls of a tool, as parts of others. */
export function isBuiltInTool(name: string): boolean {
  return /^(?:files|shell|web)\//.test(name);
}

/** Whether a pattern of tools is about built-in tools or about the tools of coding agents. */
export function isBuiltInPattern(pattern: string): boolean {
  return /^(?:files|shell|web|claude-code|codex)\//.test(pattern);
}
