/** A number with its noun: `1 entry`, `1,200 entries`. Default of `many`: the noun with an `s`. */
export function counted(count: number, one: string, many: string = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}
