/** Lines about hooks with one of each text: later events of it are only named. */
export function grouped(lines: readonly string[]): readonly string[] {
  const groups = new Map<string, { readonly line: string; readonly more: string[] }>();
  for (const line of lines) {
    const [, sign = '', event = '', text = ''] = /^([+-]) hooks\.(\w+): (.*)$/s.exec(line) ?? [];
    const key = event === '' ? line : JSON.stringify([sign, text]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { line, more: [] });
    else group.more.push(event === '' ? line : event);
  }
  return [...groups.values()].flatMap(({ line, more }) =>
    more.length === 0 ? [line] : [line, `${line.slice(0, 1)} and the same for ${more.join(', ')}`],
  );
}
