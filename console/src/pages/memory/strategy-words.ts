const WORDS: Readonly<Record<string, string>> = {
  lww: 'The last writer wins, by the order of commits.',
  'lww-valid': 'The latest start of valid time wins. Among equal starts the last writer wins.',
  evi: 'The highest confidence wins. Among equal ones the last writer wins.',
  await: 'A person decides.',
  rule: 'A policy decides.',
};

/** The rule by which a predicate decides contradictions, in words. */
export function strategyText(strategy: string): string {
  return WORDS[strategy] ?? strategy;
}
