/** The first words that fit into so many letters. Of a longer first word, its first letters. */
export function beginning(text: string, letters: number): string {
  const fitting = [...text.slice(0, letters * 2)].slice(0, letters).join('');
  if (fitting.length === text.length || text[fitting.length] === ' ') return fitting;
  const end = fitting.lastIndexOf(' ');
  return end > 0 ? fitting.slice(0, end) : fitting;
}
