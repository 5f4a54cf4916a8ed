export type Child = Node | string | undefined;

/** An element with attributes and children. A text is text, and never markup. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

/** A titled part of the page. */
export function section(title: string, ...children: readonly Child[]): HTMLElement {
  const id = title.toLowerCase().replaceAll(' ', '-');
  return element('section', { 'aria-labelledby': id }, element('h2', { id }, title), ...children);
}

/** Names with their values, in two columns. Rows without a value are left out. */
export function facts(
  ...rows: readonly (readonly [string, Child | readonly Child[]])[]
): HTMLElement {
  const list = element('dl', { class: 'facts' });
  for (const [name, value] of rows) {
    const held = (Array.isArray(value) ? value : [value]) as readonly Child[];
    if (held.every((child) => child === undefined || child === '')) continue;
    list.append(element('dt', {}, name), element('dd', {}, ...held));
  }
  return list;
}

/** A number with its noun: `1 entry`, `1,200 entries`. */
export function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}
