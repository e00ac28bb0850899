/**
 * A choice of few, side by side: radio buttons, so that arrow keys move.
 *
 * @param about what each one does, for a pointer that rests on it
 */
export function Segments<V extends string>(props: {
  label: string
  name: string
  values: readonly V[]
  value: V
  nameOf(value: V): string
  about?: Record<V, string>
  onChoose(value: V): void
}) {
  const { label, name, values, value, nameOf, about, onChoose } = props
  return (
    <fieldset class="segments">
      <legend class="unseen">{label}</legend>
      {values.map(one => (
        <label key={one} {...(about === undefined ? {} : { title: about[one] })}>
          <input type="radio" name={name} value={one} checked={one === value} onChange={() => onChoose(one)} />
          <span>{nameOf(one)}</span>
        </label>
      ))}
    </fieldset>
  )
}
