import { arg, checkArgument } from 'assize/internal/base';

/** A reason that starts with the id of the written rule: `[id] why`. */
export function ruleText(rule: string, why: string): string {
  return `[${rule}] ${why}`;
}

/** The ids of the written rules that a ruling's detail names, in order. */
export function rulesIn(detail: string): readonly string[] {
  checkArgument(arg.text, detail, 'detail');
  return [...detail.matchAll(/\[([a-z0-9-]+)\] /g)].map(([, id]) => id as string);
}
