import { flowText } from '#gateway';
import type { MinedRule } from './rule.ts';

/** A rule as one sentence. Names and values in it come from calls, so they are data. */
export function statementOf(rule: MinedRule): string {
  const { tool } = rule;
  switch (rule.kind) {
    case 'allow':
      return `${tool}: no question, by ${flowText(rule.rule)}`;
    case 'bound':
      return rule.of === 'length'
        ? `${tool}: ${rule.path} has at most ${rule.max} items`
        : `${tool}: ${rule.path} is at most ${rule.max}`;
    case 'values':
      return `${tool}: ${rule.path} is ${listed(
        rule.values.map((value) => JSON.stringify(value)),
        'or',
      )}`;
    case 'prefix':
      return `${tool}: ${rule.path} begins with ${JSON.stringify(rule.prefix)}`;
    case 'ordering': {
      const { needs, on } = rule;
      if (on === undefined) return `${tool} only after ${needs} in the same run`;
      return `${tool} only after ${needs} in the same run, with ${on.needsPath} equal to its ${on.path}`;
    }
    case 'approval':
      return rule.from === undefined
        ? `${tool}: a person approves each call`
        : `${tool}: a person approves each call with ${rule.from.path} of ${rule.from.min} or more`;
    case 'never':
      return `${tool}: never by the ${rule.names.length === 1 ? rule.by : `${rule.by}s`} ${listed(rule.names, 'and')}`;
    case 'apart':
      return `${tool}: never by a principal that called ${rule.other} earlier in the same run`;
    case 'rate':
      return `${tool}: at most ${rule.max} ${rule.max === 1 ? 'call' : 'calls'} of one principal in ${rule.per === 'hour' ? 'an' : 'a'} ${rule.per}`;
  }
}

function listed(texts: readonly string[], last: string): string {
  if (texts.length < 2) return texts.join('');
  return `${texts.slice(0, -1).join(', ')} ${last} ${texts.at(-1)}`;
}
