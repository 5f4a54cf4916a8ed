import { line, type Printable } from './printable.ts';

/** Names the rules that declare neither `final` nor `overridable`. */
export function noOverrideText(rules: readonly string[]): Printable {
  return line`no approval overrides a rejection by ${rules.join(', ')}; declare overridable where one may`;
}
