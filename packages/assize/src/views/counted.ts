/** `1 member`, `2,000 members`; `1 entry`, `2 entries`. */
export function counted(n: number, noun: string): string {
  return `${n.toLocaleString('en')} ${n === 1 ? noun : pluralOf(noun)}`;
}

function pluralOf(noun: string): string {
  return /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`;
}
