/* Objects as YAML, in its flow style, which is JSON. */
#include "tools/informerctl/document.h"

void
document_yaml(const struct document *document, struct text *out)
{
	document_json(document, out);
}

void
document_list_yaml(struct document_list *list, struct text *out)
{
	document_list_json(list, out);
}
