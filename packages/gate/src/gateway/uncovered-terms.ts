import { isBuiltInPattern } from './judge/built-in-tools.ts';
import { compiledRules } from './judge/compiled-rules.ts';
import { matchesTool } from './names.ts';
import type { GatewayState } from './schema.ts';

/** A part of the terms of a standing approval that lets no call through. */
export interface UncoveredTerm {
  /** A pattern of tools that neither the rules nor a pin know. */
  readonly tools?: string;
  /** A tool, and the unit that its calls spend and the terms do not name. */
  readonly tool?: string;
  readonly unit?: string;
}

/** The parts of the terms that can let no call through by the rules in force, in order. */
export function uncoveredTerms(
  { rules: { text }, pins }: Pick<GatewayState, 'rules' | 'pins'>,
  {
    tools,
    amounts,
  }: { readonly tools: readonly string[]; readonly amounts: Readonly<Record<string, number>> },
): readonly UncoveredTerm[] {
  const compiled = compiledRules(text);
  const known = [
    ...new Set([...compiled.rules.tools.map(({ name }) => name), ...Object.keys(pins)]),
  ];
  const unknown = tools.filter(
    (pattern) => !isBuiltInPattern(pattern) && !known.some((name) => matchesTool(pattern, name)),
  );
  const covered = known.filter((name) => tools.some((pattern) => matchesTool(pattern, name)));
  const unspent = covered.flatMap((tool) =>
    Object.keys(compiled.spec(tool)?.amounts ?? {})
      .filter((unit) => !Object.hasOwn(amounts, unit))
      .map((unit) => ({ tool, unit })),
  );
  return [...unknown.map((pattern) => ({ tools: pattern })), ...unspent];
}
