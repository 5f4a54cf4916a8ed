/** An instant in the reader's own time: the time of today, or the day and the time. */
export function TimeOfDay({ at }: { readonly at: string }) {
  const instant = new Date(at);
  // The Swedish form is that of ISO 8601.
  const [day, time] = instant.toLocaleString('sv-SE').split(' ');
  const isToday = instant.toDateString() === new Date().toDateString();
  return (
    <time dateTime={at} title={at}>
      {isToday ? time : `${day} ${time?.slice(0, 5)}`}
    </time>
  );
}
