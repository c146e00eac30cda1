/** What was sent or answered, as it is, in a box that scrolls. */
export function LoggedText({ label, text }: { label: string; text: string }) {
  if (text === '') return null
  return (
    <div className="mt-2">
      <p className="text-xs font-medium text-muted">{label}</p>
      <pre
        aria-label={label}
        className="mt-1 max-h-48 overflow-auto rounded-md bg-sunken p-2 font-mono text-xs [overflow-wrap:anywhere] whitespace-pre-wrap"
        role="region"
        tabIndex={0}
      >
        {text}
      </pre>
    </div>
  )
}
